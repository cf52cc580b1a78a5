"""Scripted behaviour at places of real towns, whose reasonableness is known by construction; nobody labelled it."""

"""What a drive is worth: driving score, success, efficiency, comfort, abilities, and the files of Bench2Drive."""

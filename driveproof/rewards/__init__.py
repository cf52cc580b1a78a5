"""What training pays for: exact choices and rubrics. They call evaluation, so training cannot drift from scoring."""

CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}
if True  # ! import_error: syntax error: 

# ? missing_attribute: CHARACTER_NAME is missing
# ? missing_attribute: PromptGenerator is missing
INSTRUCTIONS = []  # ! invalid_value: INSTRUCTIONS is list
UNDO = "yes"  # ! invalid_value: UNDO is str
TOOLS = 5  # ! invalid_schema: TOOLS is a int

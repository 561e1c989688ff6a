# ? missing_attribute: PromptGenerator is missing
CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}

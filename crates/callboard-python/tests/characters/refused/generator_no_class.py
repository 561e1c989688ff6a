CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}
PromptGenerator = dict()  # ! invalid_value: PromptGenerator is a dict; it must be a class

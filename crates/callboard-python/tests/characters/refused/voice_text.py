CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}
VOICE_SOURCE = "voice.wav"  # ! invalid_value: VOICE_SOURCE is str; it must be a dict


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."

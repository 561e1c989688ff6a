import threading
import time

threading.Thread(target=time.sleep, args=(600,), daemon=True).start()

CHARACTER_NAME = "Saboteur"
INSTRUCTIONS = {}


class PromptGenerator:
    def __init__(self, instructions):
        pass

    def make_system_prompt(self):
        return "Break things."

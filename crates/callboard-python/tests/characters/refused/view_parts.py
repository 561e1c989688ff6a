CHARACTER_NAME = "Refused"
INSTRUCTIONS = {}
VIEW = {
    "title": "",  # ! invalid_value: VIEW['title'] is ''; it must be text of 1 to 100 characters
    "html": "<b>",  # ! invalid_value: VIEW has the unknown key 'html'
    "parts": [
        {"show": "fact", "items": []},  # ! invalid_value: VIEW['parts'][0]['show'] is 'fact'; it must be one of "facts",
        {"show": "facts", "items": []},  # ! invalid_value: VIEW['parts'][1]['items'] must be a list of 1 to 50 entries
        {"show": "bars", "items": [{"label": "Score", "path": "/a"}]},  # ! invalid_value: VIEW['parts'][2]['items'][0] has no 'of'
        {"show": "list", "path": "scores"},  # ! invalid_value: VIEW['parts'][3]['path'] is 'scores'; it must be a path
        {"show": "timeline", "path": "/events"},  # ! invalid_value: VIEW['parts'][4] has no 'text'
        {"show": "table", "path": "/rows", "colums": []},  # ! invalid_value: VIEW['parts'][5] has the unknown key 'colums'
        {"show": "steps", "path": "/phase", "of": "/phases"},  # ! invalid_value: VIEW['parts'][6]['of'] must be a list of 1 to 50 entries
        "<b>",  # ! invalid_value: VIEW['parts'][7]['show'] is None; it must be one of
    ],
}


class PromptGenerator:
    def __init__(self, instructions):
        self.instructions = instructions

    def make_system_prompt(self):
        return "Be brief."

"""Calls of the shipped characters' tools, some of which their tools refuse."""

PLAYS: dict[str, list[tuple[str, dict]]] = {
    "narrator": [("log_story_event", {"event": "The door was reached"}),
                 ("log_story_event", {"event": "The hero jumped", "importance": "extreme"})],
    "game_master": [("roll_dice", {"dice": "3d6+2", "reason": "picking the lock"}), ("add_item", {"item": "rope"}),
                    ("change_health", {"amount": -3}), ("remove_item", {"item": "crown"})],
    "dj": [("queue_mood", {"mood": "calm"}), ("queue_track", {"title": "So What"}), ("skip", {"count": 2}),
           ("set_volume", {"level": 11})],
    "calculator": [("calculate", {"expression": "(3 + 4) * 2 ** 5"}), ("calculate", {"expression": "1 / 0"}),
                   ("average", {"numbers": [1, 2, 6]})],
    "quiz_show": [("ask_question", {"topic": "geography", "points": 100}), ("check_answer", {"answer": "Ottawa"})],
    "grimlog": [("change_phase", {"new_phase": "Shooting", "player_turn": "player"}),
                ("update_unit_health", {"unit_name": "The Swarmlord", "owner": "opponent", "wounds_lost": 1}),
                ("update_unit_health", {"unit_name": "nothing", "owner": "opponent", "wounds_lost": 1})],
    "dev_news": [("latest_headlines", {"count": 3}), ("current_time", {})],
    "gertrude": [("no_such_tool", {})],
}

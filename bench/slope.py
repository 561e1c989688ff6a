"""Whether a cost is flat, linear or grows faster, from its points."""

# Less than this times the smallest cost is no growth: two runs differ as much.
NO_GROWTH = 1.25
# A straight line has the same slope everywhere; how much steeper its last part may be, as runs differ.
STEEPER = 1.5


def judged(points: list[tuple[float, float]]) -> dict:
    """The verdict on points (size, cost), sizes ascending."""
    (first_size, first), (last_size, last) = points[0], points[-1]
    if last <= first * NO_GROWTH or last_size == first_size:
        return {"verdict": "flat", "slope": 0.0, "grows_faster": False}
    slope = (last - first) / (last_size - first_size)
    if is_steeper(points, first):
        return {"verdict": f"GROWS FASTER THAN LINEAR: {slope:.3g} for each on average, and more at the end", "slope": slope,
                "grows_faster": True}
    return {"verdict": f"linear or less: {slope:.3g} for each", "slope": slope, "grows_faster": False}


def is_steeper(points: list[tuple[float, float]], least: float) -> bool:
    """Whether the last part is steeper than a line through the points before it, where these differ enough to have one."""
    if len(points) < 3:
        return False
    (first_size, first), (before_size, before), (last_size, last) = points[0], points[-2], points[-1]
    # Where the line before is as good as flat, the slope is what the tolerated noise would allow.
    earlier = max(before - first, (NO_GROWTH - 1) * least) / (before_size - first_size)
    return (last - before) / (last_size - before_size) > STEEPER * earlier

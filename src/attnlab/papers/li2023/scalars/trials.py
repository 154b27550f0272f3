"""How a trial ended: success, iterations, margins."""

from attnlab.evidence.laws import stored

SUCCESS = stored("success", "success of a trial")

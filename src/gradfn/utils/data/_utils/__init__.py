"""The parts of a loader: collating, fetching, workers."""

from . import collate as collate
from . import fetch as fetch
from . import worker as worker

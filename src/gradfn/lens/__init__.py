"""The glass box: graphs as plain records, and drawings of them."""

from .model import EdgeRecord as EdgeRecord
from .model import Graph as Graph
from .model import NodeRecord as NodeRecord
from .model import Output as Output
from .model import Saved as Saved
from .model import graph as graph
from .progress import Progress as Progress
from .text import draw as draw
from .watch import Watch as Watch

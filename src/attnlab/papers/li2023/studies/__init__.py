"""The studies of li2023."""

from attnlab.papers.li2023.studies import table
from attnlab.papers.li2023.studies.combinations import MIXTURE
from attnlab.papers.li2023.studies.frames import FRAMES
from attnlab.papers.li2023.studies.images import IMAGES

STUDIES = (*table.STUDIES, *FRAMES, MIXTURE, *IMAGES)

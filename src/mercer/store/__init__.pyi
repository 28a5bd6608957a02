"""The names of `mercer.store`, and where they live."""

from mercer.sources.files._file_source import path_of as path_of
from mercer.store._file_layout import VERSION as VERSION
from mercer.store._file_reading import read as read
from mercer.store._file_replacement import NewFile as NewFile
from mercer.store._file_replacement import naming as naming
from mercer.store._file_replacement import replacing as replacing
from mercer.store._file_replacement import write_all as write_all
from mercer.store._file_writing import is_ours as is_ours
from mercer.store._file_writing import must_be_ours as must_be_ours
from mercer.store._file_writing import write as write
from mercer.store._machine_record import keep_rates as keep_rates
from mercer.store._machine_record import kept_rates as kept_rates
from mercer.store._plain_data import DataDecoder as DataDecoder
from mercer.store._plain_data import DataEncoder as DataEncoder
from mercer.store._plain_data import Form as Form

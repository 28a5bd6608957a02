from mercer.estimators.missing._filling import FillingTask as FillingTask
from mercer.estimators.missing._imputation import check_completion as check_completion
from mercer.estimators.missing._imputation import imputed as imputed
from mercer.estimators.missing._imputation import score_errors as score_errors
from mercer.estimators.missing._missing_cells import completed_fit as completed_fit
from mercer.estimators.missing._missing_cells import to_come as to_come
from mercer.estimators.missing._missing_cells import with_filled_cells as with_filled_cells
from mercer.estimators.missing._missing_cells import zero_where_empty as zero_where_empty

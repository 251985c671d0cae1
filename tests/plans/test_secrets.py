"""Secrets in clear text are refused; the messages never show them."""

import pytest

from execnodes.core.errors import PlanError
from plans.format.literal_secrets import refuse_literal_secrets


def test_the_message_names_table_and_key_and_never_the_secret() -> None:
    with pytest.raises(PlanError, match=r"table a\.b\.c: option 'db\.pass-token'") as caught:
        refuse_literal_secrets("a.b.c", {"x": "1", "db.pass-token": "hunter2"})
    assert "'db.pass-token' = '${env:DB_PASS_TOKEN}'" in str(caught.value)
    assert "hunter2" not in str(caught.value)

"""Which table options are secrets, and which values give one away."""

import pytest

from execnodes.core.errors import PlanError
from plans.secrets import is_sensitive, literal_secrets, refuse_literal_secrets


@pytest.mark.parametrize(
    "key",
    [
        "password", "db.password", "PASSWORD", "ssl.key-password", "secret", "client.secret", "token", "auth-token",
        "api-key", "api.key", "apikey", "apiKey", "accessKey", "s3.access-key", "s3.access.key", "fs.secret_key",
        "private-key", "properties.sasl.jaas.config", "credentials", "sasToken",
    ],
)  # fmt: skip
def test_sensitive_keys(key: str) -> None:
    assert is_sensitive(key)
    assert literal_secrets({key: "x"}) == (key,)
    assert literal_secrets({key: "${env:X}"}) == ()
    assert literal_secrets({key: "${file:/run/x}"}) == ()


@pytest.mark.parametrize("key", ["path", "key.format", "key.fields", "primary-key", "tokenizer", "username"])
def test_other_keys(key: str) -> None:
    assert not is_sensitive(key)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("jdbc:postgresql://me:hunter2@db/x", True),
        ("jdbc:postgresql://me:${env:PW}@db/x", False),
        ("jdbc:postgresql://db:5432/x?user=me&password=hunter2", True),
        ("jdbc:postgresql://db:5432/x?user=me&password=${env:PW}", False),
        ("org.example.Login required username=\"me\" password=\"hunter2\";", True),
        ("org.example.Login required username=\"me\" password=\"${file:/run/pw}\";", False),
        ("https://host:8080/path@x", False),
        ("s3://bucket/a=1/b=2", False),
    ],
)  # fmt: skip
def test_values_that_hold_secrets(value: str, shown: bool) -> None:
    assert bool(literal_secrets({"url": value})) is shown


def test_the_message_names_table_and_key_and_never_the_secret() -> None:
    with pytest.raises(PlanError, match=r"table a\.b\.c: option 'db\.pass-token'") as caught:
        refuse_literal_secrets("a.b.c", {"x": "1", "db.pass-token": "hunter2"})
    assert "'db.pass-token' = '${env:DB_PASS_TOKEN}'" in str(caught.value)
    assert "hunter2" not in str(caught.value)

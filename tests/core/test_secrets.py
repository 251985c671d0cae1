"""Which options are secrets, which texts show one, and texts without them."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execnodes.core import secrets
from execnodes.core.errors import JobError
from execnodes.core.secrets import MASK, is_sensitive, literal_secrets, masked, masked_options, remember
from rekindle.connectors.formats import formats
from rekindle.connectors.options import COMMON
from rekindle.connectors.registry import find_sink, find_source, identifiers

SENSITIVE = (
    "password", "db.password", "PASSWORD", "ssl.key-password", "secret", "client.secret", "token", "auth-token",
    "api-key", "api.key", "apikey", "apiKey", "accessKey", "s3.access-key", "s3.access.key", "fs.secret_key", "pass",
    "private-key", "properties.sasl.jaas.config", "credentials", "sasToken", "AccountKey", "userPass", "passwd", "pwd",
    "dbpassword", "accesstoken", "clientSecret", "Authorization", "http.headers", "sig", "fs.azure.account.key.x.net",
    "spark.hadoop.fs.s3a.secret.key", "spark.options.sasl.jaas.config", "SharedAccessKey", "sessionToken", "privateKey",
    "fs.azure.sas.token.box.me", "X-Api-Key", "http.header.X-Auth-Token", "basic-auth", "awsSecretAccessKey",
)  # fmt: skip
HARMLESS = (
    "path", "key.format", "key.fields", "primary-key", "tokenizer", "username", "token-bucket", "token-bucket.rate",
    "pass-through", "passThrough.mode", "bypass", "compass", "max-tokens", "fields.password.kind",
    "fields.token.length", "fs.s3a.aws.credentials.provider", "password.file", "token.url", "secret-name", "author",
    "signature-version", "passive", "keystore.path", "sign", "assignee", "keyspace", "account",
    "spark.sql.shuffle.partitions",
)  # fmt: skip
SECRET_TEXTS = (
    "jdbc:postgresql://me:hunter2@db/x",
    "jdbc:postgresql://db:5432/x?user=me&password=hunter2",
    "jdbc:sqlserver://db:1433;databaseName=x;user=me;password=hunter2;encrypt=true",
    "jdbc:oracle:thin:scott/hunter2@db:1521/x",
    'org.example.Login required username="me" password="hunter2";',
    "https://box.me/c/f.csv?sv=2022&sig=hunter2&se=2030",
    "DefaultEndpointsProtocol=https;AccountName=me;AccountKey=hunter2==;EndpointSuffix=x",
    "Endpoint=sb://x/;SharedAccessKeyName=root;SharedAccessKey=hunter2=",
    "Authorization: Bearer hunter2",
    "authorization=Basic hunter2",
    "X-Api-Key: hunter2",
    '{"user": "me", "password": "hunter2"}',
    "{'clientSecret': 'hunter2'}",
    "Map(user -> me, password -> hunter2)",
    "CREATE TABLE t (a INT) WITH ('connector' = 'x', 'db.pass' = 'hunter2')",
)
HARMLESS_TEXTS = (
    "https://host:8080/path@x", "s3://bucket/a=1/b=2", "/data/token=abc/part-0", "unexpected token: 'x'",
    "jdbc:postgresql://me:${env:PW}@db/x", "password=${env:PW}", "'password' = '${file:/run/pw}'",
    "abfss://box@account.dfs.core.windows.net/x", "the password: there is none", "max-tokens=100",
    'org.example.Login required username="me" password="${file:/run/pw}";', "passThrough=true;token-bucket=5",
)  # fmt: skip


@pytest.fixture(autouse=True)
def _nothing_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """What other tests made known would be masked anyway."""
    monkeypatch.setattr(secrets, "_known", set())


@pytest.mark.parametrize("key", SENSITIVE)
def test_sensitive_keys(key: str) -> None:
    assert is_sensitive(key)
    assert literal_secrets({key: "x"}) == (key,)
    assert literal_secrets({key: "${env:X}"}) == ()
    assert literal_secrets({key: "${file:/run/x}"}) == ()
    assert literal_secrets({key: "true"}) == ()
    assert masked_options({key: "x", "a": "b"}) == {key: MASK, "a": "b"}


@pytest.mark.parametrize("key", HARMLESS)
def test_other_keys(key: str) -> None:
    assert not is_sensitive(key)
    assert masked_options({key: "org.example.X"}) == {key: "org.example.X"}


def test_no_declared_option_is_a_secret_by_mistake() -> None:
    declared = [*COMMON, *(option for each in formats().values() for option in each.options)]
    for find, role in ((find_source, "source"), (find_sink, "sink")):
        for name in identifiers(role):
            declared += find(name).declared({"connector": name, "format": "json", "path": "/x"})
    assert [option.key for option in declared if is_sensitive(option.key) != option.secret] == []


@pytest.mark.parametrize("text", SECRET_TEXTS)
def test_texts_that_hold_secrets(text: str) -> None:
    assert literal_secrets({"url": text}) == ("url",)
    assert "hunter2" not in masked(text)
    assert MASK in masked(text)
    assert masked(masked(text)) == masked(text)


@pytest.mark.parametrize("text", HARMLESS_TEXTS)
def test_texts_that_hold_none(text: str) -> None:
    assert literal_secrets({"url": text}) == ()
    assert masked(text) == text


@pytest.mark.parametrize("quoted", [str, repr, json.dumps])
def test_what_was_an_option_is_known_wherever_it_turns_up(quoted: object) -> None:
    assert callable(quoted)
    secret = "k-7 ü\"'<&>\\ok"
    remember({"my.secret": secret})
    assert "k-7" not in masked(f"the driver said {quoted(secret)} is wrong")


def test_errors_never_show_them() -> None:
    error = JobError("no login with password=hunter2", where="jdbc://me:hunter2@db", hint="Try pwd=hunter2;x=1 again")
    assert "hunter2" not in str(error) + repr(error) + repr(error.args)
    assert str(error) == f"jdbc://me:{MASK}@db: no login with password={MASK}\n  Try pwd={MASK};x=1 again"


def test_tokens_are_known_by_their_form() -> None:
    for token in ("AKIAIOSFODNN7EXAMPLE", "ghp_" + "a1" * 15, "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_d"):
        assert masked(f"x {token}, y") == f"x {MASK}, y"
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIB\nabc\n-----END RSA PRIVATE KEY-----"
    assert "MIIB" not in masked(f"k {key}")


@given(st.text(max_size=60), st.sampled_from(SECRET_TEXTS), st.text(alphabet=" .,;\n", min_size=1, max_size=3))
def test_text_around_them_gives_nothing_away(before: str, text: str, gap: str) -> None:
    assert "hunter2" not in masked(f"{before}{gap}{text}")

import pytest

from millrace import Millrace


def pytest_configure(config):
    config.addinivalue_line("markers", "full: only in interop-full")


@pytest.fixture
def server(tmp_path):
    m = Millrace(tmp_path / "data").start()
    yield m
    m.stop()


@pytest.fixture
def strict(tmp_path):
    """A server that does not create topics by itself."""
    m = Millrace(tmp_path / "data", "--auto-create-topics=false").start()
    yield m
    m.stop()

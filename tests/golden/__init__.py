"""Golden files. Pytest shows how a text differs from its file, as it does for assertions in tests."""

import pytest

pytest.register_assert_rewrite("tests.golden.golden_files")

def test_a_misspelt_tool_is_named() -> None:
    with pytest.raises(UsageError, match="no tool 'Bahs'") as raised:
        parse_call("Bahs(ls)")
    assert raised.value.hint == "Did you mean Bash(ls)?"

// SPDX-License-Identifier: Apache-2.0
package io.isolde.cql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.isolde.oracle.IsolationLevel;
import io.isolde.oracle.group.MemberChange;
import io.isolde.version.ConflictUnit;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import org.apache.cassandra.exceptions.SyntaxException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StatementParserTest {
  private static ControlStatement parsed(String text) {
    return StatementParser.parse(text).orElseThrow();
  }

  private static ControlStatement.Start start(IsolationLevel level, boolean readOnly, Long asOf) {
    OptionalLong past = asOf == null ? OptionalLong.empty() : OptionalLong.of(asOf);
    return new ControlStatement.Start(level, readOnly, past, Optional.empty());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "START TRANSACTION",
        "start transaction;",
        "  Start\n Transaction  ; ",
        "START TRANSACTION ISOLATION LEVEL SERIALIZABLE",
        "-- a comment\nSTART TRANSACTION",
        "/* a; comment */ START /* and another */ TRANSACTION; // and one more"
      })
  void whenNothingElseIsSaidThenATransactionIsSerializable(String text) {
    assertThat(parsed(text)).isEqualTo(start(IsolationLevel.SERIALIZABLE, false, null));
  }

  @Test
  void whenOptionsAreGivenThenTheirOrderDoesNotMatter() {
    assertThat(parsed("START TRANSACTION ISOLATION LEVEL SNAPSHOT READ ONLY"))
        .isEqualTo(start(IsolationLevel.SNAPSHOT, true, null));
    assertThat(parsed("start transaction as of 17 read only isolation level snapshot;"))
        .isEqualTo(start(IsolationLevel.SNAPSHOT, true, 17L));
    assertThat(parsed("START TRANSACTION AS OF -5"))
        .isEqualTo(start(IsolationLevel.SERIALIZABLE, false, -5L));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "START TRANSACTION ISOLATION LEVEL CHAOS",
        "START TRANSACTION READONLY",
        "START TRANSACTION AS OF yesterday",
        "START TRANSACTION AS OF 99999999999999999999",
        "START TRANSACTION READ ONLY READ ONLY",
        "START TRANSACTION AS OF 1 AS OF 2",
        "ENABLE TRANSACTIONS",
        "ENABLE TRANSACTIONS ON",
        "ENABLE TRANSACTIONS ON a.b.c",
        "DISABLE TRANSACTIONS ON 1t",
        "DISABLE TRANSACTIONS ON t WITH conflicts = 'cell'",
        "ENABLE TRANSACTIONS ON t WITH conflicts = cell",
        "ENABLE TRANSACTIONS ON t WITH conflicts = 'page'",
        "ENABLE TRANSACTIONS FOR t"
      })
  void whenOursIsWrittenWrongThenItIsASyntaxErrorThatSaysWhatWasExpected(String text) {
    assertThatThrownBy(() -> StatementParser.parse(text))
        .isInstanceOf(SyntaxException.class)
        .hasMessageContaining("TRANSACTION");
  }

  @Test
  void whenAnOutcomeIsAskedForThenTheIdIsRead() {
    UUID id = UUID.fromString("0a1b2c3d-0000-4000-8000-0123456789ab");
    assertThat(parsed("SHOW TRANSACTION 0A1B2C3D-0000-4000-8000-0123456789AB;"))
        .isEqualTo(new ControlStatement.Show(id));
    assertThatThrownBy(() -> StatementParser.parse("SHOW TRANSACTION 17"))
        .hasMessageContaining("a UUID");
    assertThat(StatementParser.parse("SHOW TABLES")).isEmpty();
  }

  @Test
  void whenATransactionEndsThenTransactionMayBeSaidOrNot() {
    assertThat(parsed("COMMIT")).isEqualTo(new ControlStatement.Commit());
    assertThat(parsed("commit transaction;")).isEqualTo(new ControlStatement.Commit());
    assertThat(parsed("ROLLBACK ;")).isEqualTo(new ControlStatement.Rollback());
  }

  @Test
  void whenATableIsNamedThenItsNameIsReadAsCassandraDoes() {
    assertThat(parsed("ENABLE TRANSACTIONS ON Bank.Accounts"))
        .isEqualTo(new ControlStatement.Enable("bank", "accounts", Optional.empty()));
    assertThat(parsed("enable transactions on accounts;"))
        .isEqualTo(new ControlStatement.Enable(null, "accounts", Optional.empty()));
    assertThat(parsed("enable transactions on a.b with Conflicts='Cell' ;"))
        .isEqualTo(new ControlStatement.Enable("a", "b", Optional.of(ConflictUnit.CELL)));
    assertThat(parsed("DISABLE TRANSACTIONS ON \"Bank\" . \"My \"\"T\""))
        .isEqualTo(new ControlStatement.Disable("Bank", "My \"T"));
  }

  @Test
  void whenTheOracleIsAlteredThenTheChangeAndTheAddressAreRead() {
    assertThat(parsed("ALTER ORACLE ADD '10.0.0.4'"))
        .isEqualTo(new ControlStatement.AlterOracle(MemberChange.Kind.ADD, "10.0.0.4"));
    assertThat(parsed("alter oracle\nremove 'fd00::4' ;"))
        .isEqualTo(new ControlStatement.AlterOracle(MemberChange.Kind.REMOVE, "fd00::4"));
    assertThat(parsed("alter oracle ACCEPT  loss;"))
        .isEqualTo(new ControlStatement.AcceptOracleLoss());
    assertThat(parsed("ALTER ORACLE /* now */ LEADER 'node-3.example'"))
        .isEqualTo(new ControlStatement.AlterOracle(MemberChange.Kind.LEAD, "node-3.example"));
  }

  @Test
  void whenALeaderIsChosenThenTheKeyspaceAndTheAddressAreRead() {
    assertThat(parsed("alter keyspace Bank leader '10.0.0.4';"))
        .isEqualTo(new ControlStatement.AlterLeader("bank", "10.0.0.4"));
    assertThat(parsed("ALTER KEYSPACE \"Leader\" LEADER 'node-3.example'"))
        .isEqualTo(new ControlStatement.AlterLeader("Leader", "node-3.example"));
    assertThatThrownBy(() -> StatementParser.parse("ALTER KEYSPACE bank LEADER 10.0.0.4"))
        .isInstanceOf(SyntaxException.class)
        .hasMessageContaining("expected 'address'");
  }

  @Test
  void whenReplicasAreToMoveThenTheKeyspaceAndTheNodesWithoutThemAreRead() {
    assertThat(parsed("alter keyspace Bank Rebalance;"))
        .isEqualTo(new ControlStatement.Rebalance("bank", List.of()));
    assertThat(parsed("ALTER KEYSPACE \"B\" REBALANCE WITHOUT '10.0.0.4' , 'fd00::5'"))
        .isEqualTo(new ControlStatement.Rebalance("B", List.of("10.0.0.4", "fd00::5")));
    assertThatThrownBy(() -> StatementParser.parse("ALTER KEYSPACE b REBALANCE WITHOUT 10.0.0.4"))
        .isInstanceOf(SyntaxException.class)
        .hasMessageContaining("expected nothing or WITHOUT 'address', …");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ALTER ORACLE",
        "ALTER ORACLE ADD",
        "ALTER ORACLE ACCEPT",
        "ALTER ORACLE ADD 10.0.0.4",
        "ALTER ORACLE ADD ''",
        "ALTER ORACLE ADD '10.0.0.4' '10.0.0.5'",
        "ALTER ORACLE ADD '10.0.0.4', '10.0.0.5'",
        "ALTER ORACLE DROP '10.0.0.4'",
        "ALTER ORACLE ADD \"10.0.0.4\"",
        "ALTER ORACLE ADD'10.0.0.4' NOW"
      })
  void whenTheChangeOfTheOracleIsNotUnderstoodThenItIsASyntaxError(String text) {
    assertThatThrownBy(() -> StatementParser.parse(text))
        .isInstanceOf(SyntaxException.class)
        .hasMessageContaining("expected ADD, REMOVE or LEADER and 'address'");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "   ",
        "SELECT * FROM t",
        "DELETE FROM start WHERE p = 1",
        "CREATE TABLE commit (p int PRIMARY KEY)",
        "COMMITTED",
        "ALTER TABLE oracle ADD v int",
        "ALTER ORACLES ADD '10.0.0.4'",
        "ALTER KEYSPACE leader WITH durable_writes = true",
        "STARTING",
        "COMMIT WORK NOW",
        "-- START TRANSACTION",
        "DISABLE AUTOCOMPACTION",
        "BEGIN BATCH INSERT INTO t (p) VALUES (1) APPLY BATCH"
      })
  void whenAStatementIsNotOursThenItIsLeftToCassandra(String text) {
    assertThat(StatementParser.parse(text)).isEmpty();
  }
}

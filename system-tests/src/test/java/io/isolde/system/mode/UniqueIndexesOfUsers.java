// SPDX-License-Identifier: Apache-2.0
package io.isolde.system.mode;

import static io.isolde.system.Refusals.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.servererrors.UnauthorizedException;
import io.isolde.client.ErrorCode;
import io.isolde.cluster.NodeTool;
import io.isolde.system.Results;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What users may do with unique indexes and see of their entries: as much as of the table. */
abstract class UniqueIndexesOfUsers {
  private static final String TABLE = "systests.members";
  private static final String ENTRIES = "systests.members_email";
  private static final String CREATE = "CREATE UNIQUE INDEX members_email ON %s (email)";

  private final CqlSession admin = PermissionsTest.admin;
  private CqlSession member;

  @BeforeEach
  void createTable() throws Exception {
    admin.execute(
        "CREATE TABLE %s (id int PRIMARY KEY, email text MASKED WITH DEFAULT, name text)"
            .formatted(TABLE));
    admin.execute("ENABLE TRANSACTIONS ON " + TABLE);
    admin.execute("CREATE ROLE member WITH PASSWORD = 'member' AND LOGIN = true");
    for (String permission : List.of("SELECT", "MODIFY", "ALTER")) {
      admin.execute("GRANT %s ON %s TO member".formatted(permission, TABLE));
    }
    member = PermissionsTest.loggedIn("member", "member");
  }

  @AfterEach
  void dropTable() {
    member.close();
    admin.execute("DROP ROLE member");
    admin.execute("DROP TABLE " + TABLE);
  }

  private void createIndex() {
    admin.execute(CREATE.formatted(TABLE));
    admin.execute("INSERT INTO %s (id, email) VALUES (1, 'a@example.org')".formatted(TABLE));
  }

  private static List<String> read(CqlSession session, String table) {
    return Results.lines(session.execute("SELECT email, id FROM " + table));
  }

  @Test
  void whenAColumnIsMaskedThenSoAreTheEntries() {
    createIndex();
    admin.execute("GRANT SELECT ON %s TO member".formatted(ENTRIES));
    for (String table : List.of(TABLE, ENTRIES)) {
      assertThat(read(admin, table)).containsExactly("a@example.org 1");
      assertThat(read(member, table)).containsExactly("**** 1");
    }
    admin.execute("ALTER TABLE %s ALTER email DROP MASKED".formatted(TABLE));
    assertThat(read(member, ENTRIES)).containsExactly("a@example.org 1");
    admin.execute("ALTER TABLE %s ALTER email MASKED WITH DEFAULT".formatted(TABLE));
    assertThat(read(member, ENTRIES)).containsExactly("**** 1");
  }

  /** Else one could try values until one is found. */
  @Test
  void whenAColumnIsMaskedThenItCantBeAskedForByItsValue() {
    createIndex();
    String byValue = "SELECT id FROM %s WHERE email = 'a@example.org'".formatted(TABLE);
    assertThatThrownBy(() -> member.execute(byValue)).isInstanceOf(UnauthorizedException.class);
    admin.execute("GRANT SELECT_MASKED ON %s TO member".formatted(TABLE));
    assertThat(Results.lines(member.execute(byValue))).containsExactly("1");
  }

  /** A write to the table writes entries for its user. To read them is another permission. */
  @Test
  void whenAUserMayWriteTheTableThenEntriesAreWrittenAndNotReadable() {
    createIndex();
    member.execute("INSERT INTO %s (id, email) VALUES (2, 'b@example.org')".formatted(TABLE));
    assertThat(read(admin, ENTRIES))
        .containsExactlyInAnyOrder("a@example.org 1", "b@example.org 2");
    assertThatThrownBy(() -> read(member, ENTRIES)).isInstanceOf(UnauthorizedException.class);
    assertRefused(
        ErrorCode.UNIQUE_VIOLATION,
        () ->
            member.execute(
                "INSERT INTO %s (id, email) VALUES (3, 'b@example.org')".formatted(TABLE)));
  }

  @Test
  void whenATableMayNotHaveMoreIndexesThenUniqueOnesAreRefusedToo() {
    allowIndexes(1); // That of transactions.
    try {
      for (String create : List.of(CREATE, "CREATE INDEX members_email ON %s (email)")) {
        assertThatThrownBy(() -> member.execute(create.formatted(TABLE)))
            .as(create)
            .hasMessageContaining("Guardrail");
      }
    } finally {
      allowIndexes(-1);
    }
    member.execute(CREATE.formatted(TABLE));
  }

  private static void allowIndexes(int perTable) {
    try (NodeTool tool = PermissionsTest.node.tool()) {
      Object unused =
          tool.invoke(
              "org.apache.cassandra.db:type=Guardrails",
              "setSecondaryIndexesPerTableThreshold",
              perTable,
              perTable);
    }
  }
}

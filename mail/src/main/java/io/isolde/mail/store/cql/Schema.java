// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.cql;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;

/** The tables, which are the same for all stores but for how they are replicated. */
final class Schema {
  private static final Pattern KEYSPACE = Pattern.compile("[a-z][a-z0-9_]{0,47}");
  private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(60);
  private static final int MAX_REPLICAS = 3;

  private static final String STRONG_STRATEGY = "ReplicatedLogStrategy";

  /** Of transactional tables. */
  private static final String VERSION_INDEX = "io.isolde.version.VersionIndex";

  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  /**
   * What changes. A mailbox is a partition, so that stores can change it as a whole. Rows of
   * messages have a UID. Below zero are entries of deliveries, and before all a row that is always
   * there: who reads the numbers, or has a condition on them, reads that row and no other.
   */
  private static final List<String> CHANGING =
      List.of(
          """
          names (user text, namespace text, name text, mailbox_id uuid, uid_validity bigint,
              rights frozen<map<text, text>>, PRIMARY KEY (user, namespace, name))""",
          """
          messages (mailbox_id uuid, uid bigint, user text static, namespace text static,
              name text static, next_uid bigint static, highest_modseq bigint static,
              message_count bigint static, unseen_count bigint static,
              keywords set<text> static, modseq bigint, message_id uuid, thread_id uuid,
              system_flags int, user_flags frozen<set<text>>, received timestamp,
              saved timestamp, size_bytes bigint, body_start int,
              delivery text, delivered_id uuid, delivered_uid bigint,
              PRIMARY KEY (mailbox_id, uid))""",
          """
          places (message_id uuid, mailbox_id uuid, uid bigint,
              PRIMARY KEY (message_id, mailbox_id, uid))""",
          "shared (user text, mailbox_id uuid, PRIMARY KEY (user, mailbox_id))");

  /** What is written once, or cell by cell: plain tables in every store. */
  private static final List<String> PLAIN =
      List.of(
          """
          headers (message_id uuid PRIMARY KEY, header blob, line_count bigint,
              properties frozen<list<text>>)""",
          "bodies (message_id uuid, chunk int, data blob, PRIMARY KEY (message_id, chunk))",
          "subscriptions (user text, mailbox text, PRIMARY KEY (user, mailbox))",
          "annotations (mailbox_id uuid, key text, value text, PRIMARY KEY (mailbox_id, key))",
          "settings (name text PRIMARY KEY, value text)");

  private Schema() {}

  /**
   * Creates what is missing.
   *
   * @param kind kept in the keyspace; a store of another kind must not write there
   * @throws IllegalArgumentException if the keyspace has no plain name, or is of another kind or
   *     replication
   * @throws IllegalStateException if tables that are to be transactional are not after a minute
   */
  static void create(
      CqlSession session, String keyspace, String kind, boolean isStrong, boolean isTransactional) {
    if (!KEYSPACE.matcher(keyspace).matches()) {
      throw new IllegalArgumentException(
          "The keyspace \"%s\" needs a name of lower case letters, digits and _."
              .formatted(keyspace));
    }
    if (strategy(session, keyspace).isEmpty()) {
      createKeyspace(session, keyspace, isStrong);
      TableCreation.awaitAgreement(session);
    }
    requireStrategy(session, keyspace, isStrong);
    List<String> tables = new ArrayList<>();
    for (String table : CHANGING) {
      tables.add(table + (isTransactional ? " WITH transactional_mode = 'full'" : ""));
    }
    tables.addAll(PLAIN);
    TableCreation.create(session, keyspace, tables);
    if (isTransactional) {
      requireTransactional(session, keyspace);
    }
    requireKind(session, keyspace, kind);
  }

  /** Another server may be at it: a table is there before it is transactional. */
  private static void requireTransactional(CqlSession session, String keyspace) {
    SimpleStatement select =
        SimpleStatement.newInstance(
            "SELECT table_name, options FROM system_schema.indexes WHERE keyspace_name = ?",
            keyspace);
    Set<String> plain = new TreeSet<>();
    long startNanos = System.nanoTime();
    do {
      CHANGING.forEach(table -> plain.add(table.split(" ", 2)[0]));
      for (Row index : session.execute(select)) {
        Map<String, String> options = index.getMap("options", String.class, String.class);
        if (VERSION_INDEX.equals(options.get("class_name"))) {
          plain.remove(index.getString("table_name"));
        }
      }
      if (plain.isEmpty()) {
        return;
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    } while (System.nanoTime() - startNanos < REQUEST_TIMEOUT.toNanos());
    throw new IllegalStateException(
        "These tables of \"%s\" are not transactional: %s. Run ENABLE TRANSACTIONS ON each of them."
            .formatted(keyspace, String.join(", ", plain)));
  }

  private static void createKeyspace(CqlSession session, String keyspace, boolean isStrong) {
    int replicas = Math.min(MAX_REPLICAS, session.getMetadata().getNodes().size());
    String create =
        "CREATE KEYSPACE IF NOT EXISTS %s WITH replication = {'class': '%s', 'replication_factor': %d}"
            .formatted(keyspace, isStrong ? STRONG_STRATEGY : "NetworkTopologyStrategy", replicas);
    var unused = session.execute(TableCreation.onFirstNode(session, create));
  }

  /** Empty if there is no such keyspace. */
  private static Optional<String> strategy(CqlSession session, String keyspace) {
    String select =
        "SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = '%s'"
            .formatted(keyspace);
    return Optional.ofNullable(execute(session, select))
        .map(row -> row.getMap("replication", String.class, String.class).get("class"));
  }

  /** For a keyspace that was there: what a strong one promises is its replication. */
  private static void requireStrategy(CqlSession session, String keyspace, boolean isStrong) {
    String found = strategy(session, keyspace).orElse("none");
    if (found.endsWith(STRONG_STRATEGY) != isStrong) {
      throw new IllegalArgumentException(
          "The keyspace \"%s\" is replicated by %s, and should%s be by %s."
              .formatted(keyspace, found, isStrong ? "" : " not", STRONG_STRATEGY));
    }
  }

  /** Written once, so a server that starts again has to read only. */
  private static void requireKind(CqlSession session, String keyspace, String kind) {
    String found = kind(session, keyspace);
    if (found == null) {
      Row unused =
          execute(
              session,
              "INSERT INTO %s.settings (name, value) VALUES ('kind', '%s') IF NOT EXISTS"
                  .formatted(keyspace, kind));
      found = kind(session, keyspace);
    }
    if (!kind.equals(found)) {
      throw new IllegalArgumentException(
          "The mailboxes in keyspace \"%s\" are of kind %s, and can't be used as %s."
              .formatted(keyspace, found, kind));
    }
  }

  private static String kind(CqlSession session, String keyspace) {
    Row row =
        execute(session, "SELECT value FROM %s.settings WHERE name = 'kind'".formatted(keyspace));
    return row == null ? null : row.getString("value");
  }

  private static Row execute(CqlSession session, String statement) {
    return session
        .execute(
            SimpleStatement.builder(statement)
                .setTimeout(REQUEST_TIMEOUT)
                .setConsistencyLevel(Levels.COMMON)
                .build())
        .one();
  }
}

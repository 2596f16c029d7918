// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.delivery;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import java.time.Instant;
import java.util.Optional;

/** A ledger in the table {@code deliveries} of a keyspace; the session stays the caller's. */
public final class CqlDeliveryLedger implements DeliveryLedger {

  /** Senders try again for some days, but seldom after the first hours. */
  private static final int REMEMBERED_SECONDS = 2 * 86_400;

  private final CqlSession session;
  private final PreparedStatement select;
  private final PreparedStatement insert;

  private CqlDeliveryLedger(CqlSession session, String keyspace) {
    this.session = session;
    select =
        prepare(
            "SELECT started, next_uid, done FROM \"%s\".deliveries WHERE id = ?"
                .formatted(keyspace));
    insert =
        prepare(
            "INSERT INTO \"%s\".deliveries (id, started, next_uid, done) VALUES (?, ?, ?, ?)"
                    .formatted(keyspace)
                + " USING TTL "
                + REMEMBERED_SECONDS);
  }

  private PreparedStatement prepare(String cql) {
    return session.prepare(
        SimpleStatement.newInstance(cql)
            .setConsistencyLevel(ConsistencyLevel.QUORUM)
            .setIdempotent(true));
  }

  /** Opens the ledger of a keyspace, which has to exist. Creates the table if it is missing. */
  public static CqlDeliveryLedger open(CqlSession session, String keyspace) {
    session.execute(
        ("CREATE TABLE IF NOT EXISTS \"%s\".deliveries"
                + " (id text PRIMARY KEY, started timestamp, next_uid bigint, done boolean)")
            .formatted(keyspace));
    return new CqlDeliveryLedger(session, keyspace);
  }

  @Override
  public Optional<Entry> find(String id) {
    Row row = session.execute(select.bind(id)).one();
    return Optional.ofNullable(row)
        .map(
            entry ->
                new Entry(
                    entry.getInstant("started"),
                    entry.getLong("next_uid"),
                    entry.getBoolean("done")));
  }

  @Override
  public void start(String id, Instant now, long nextUid) {
    session.execute(insert.bind(id, now, nextUid, false));
  }

  @Override
  public void done(String id, Entry started) {
    session.execute(insert.bind(id, started.started(), started.nextUid(), true));
  }
}

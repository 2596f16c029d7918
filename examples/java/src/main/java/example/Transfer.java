// SPDX-License-Identifier: Apache-2.0
package example;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import io.isolde.client.Isolde;
import io.isolde.client.Transaction;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.Optional;

/** Moves 30 from account 1 to account 2, and not a cent more than there is. */
public final class Transfer {
  private static final int AMOUNT = 30;

  private final Isolde isolde;
  private final PreparedStatement read;
  private final PreparedStatement write;

  private Transfer(CqlSession session) {
    createTable(session);
    isolde = Isolde.on(session);
    read = session.prepare("SELECT balance FROM shop_java.accounts WHERE id = ?");
    write = session.prepare("UPDATE shop_java.accounts SET balance = ? WHERE id = ?");
  }

  /** Says how it went. */
  public static void main(String[] arguments) {
    String address = Optional.ofNullable(System.getenv("CASSANDRA")).orElse("127.0.0.1");
    try (CqlSession session =
        CqlSession.builder()
            .addContactPoint(new InetSocketAddress(address, 9042))
            .withLocalDatacenter("datacenter1")
            .withConfigLoader(patientLoader())
            .build()) {
      Transfer transfer = new Transfer(session);
      transfer.openAccounts();
      System.out.println(transfer.move());
    }
  }

  /** The driver waits for 2 s unless told, which a schema change on a busy machine may exceed. */
  private static DriverConfigLoader patientLoader() {
    return DriverConfigLoader.programmaticBuilder()
        .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, Duration.ofSeconds(10))
        .build();
  }

  private static void createTable(CqlSession session) {
    session.execute(
        "CREATE KEYSPACE IF NOT EXISTS shop_java WITH replication ="
            + " {'class': 'SimpleStrategy', 'replication_factor': 1}");
    session.execute(
        "CREATE TABLE IF NOT EXISTS shop_java.accounts (id int PRIMARY KEY, balance int)");
    session.execute("ENABLE TRANSACTIONS ON shop_java.accounts");
  }

  private void openAccounts() {
    isolde.runVoid(
        tx -> {
          if (balance(tx, 1).isEmpty()) {
            tx.write(write.bind(100, 1));
            tx.write(write.bind(0, 2));
          }
        });
  }

  private String move() {
    return isolde.run(
        tx -> {
          int from = balance(tx, 1).orElseThrow();
          int to = balance(tx, 2).orElseThrow();
          if (from < AMOUNT) {
            return "there is not enough on account 1"; // commits, and nothing has changed
          }
          tx.write(write.bind(from - AMOUNT, 1));
          tx.write(write.bind(to + AMOUNT, 2));
          return "Moved %d: account 1 has %d, account 2 has %d."
              .formatted(AMOUNT, from - AMOUNT, to + AMOUNT);
        });
  }

  private Optional<Integer> balance(Transaction tx, int id) {
    Row row = tx.execute(read.bind(id)).one();
    return Optional.ofNullable(row).map(found -> found.getInt("balance"));
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.login;

import com.datastax.oss.driver.api.core.ConsistencyLevel;
import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.cql.PreparedStatement;
import com.datastax.oss.driver.api.core.cql.Row;
import com.datastax.oss.driver.api.core.cql.SimpleStatement;
import io.isolde.mail.store.cql.TableCreation;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/** Users in the table {@code users} of a keyspace; the session stays the caller's. */
public final class CqlMailUsers implements MailUsers {

  /** What every client can type and every protocol can carry. */
  private static final Pattern ADDRESS =
      Pattern.compile("[a-z0-9][a-z0-9._+-]{0,63}@[a-z0-9][a-z0-9.-]{0,189}");

  private static final int MIN_PASSWORD_CHARS = 8;

  private final CqlSession session;
  private final int iterations;
  private final PreparedStatement select;
  private final PreparedStatement insert;

  private CqlMailUsers(CqlSession session, String keyspace, int iterations) {
    this.session = session;
    this.iterations = iterations;
    select =
        prepare("SELECT password_hash FROM \"%s\".users WHERE address = ?".formatted(keyspace));
    insert =
        prepare(
            "INSERT INTO \"%s\".users (address, password_hash) VALUES (?, ?) IF NOT EXISTS"
                .formatted(keyspace));
  }

  private PreparedStatement prepare(String cql) {
    return session.prepare(
        SimpleStatement.newInstance(cql).setConsistencyLevel(ConsistencyLevel.QUORUM));
  }

  /**
   * Opens the users of a keyspace, which has to exist. Creates the table if it is missing.
   *
   * @param iterations of the hashes of new passwords; see {@link PasswordHash}
   */
  public static CqlMailUsers open(CqlSession session, String keyspace, int iterations) {
    TableCreation.create(
        session, keyspace, List.of("users (address text PRIMARY KEY, password_hash text)"));
    return new CqlMailUsers(session, keyspace, iterations);
  }

  @Override
  public Optional<String> passwordHash(String address) {
    Row row = session.execute(select.bind(address)).one();
    return Optional.ofNullable(row).map(user -> user.getString("password_hash"));
  }

  /**
   * Adds a user.
   *
   * @return false if there is one with this address
   * @throws IllegalArgumentException if the address or the password is not allowed
   */
  public boolean add(String address, String password) {
    String lower = address.toLowerCase(Locale.ROOT);
    if (!ADDRESS.matcher(lower).matches()) {
      throw new IllegalArgumentException(
          "\"%s\" is no address for a user: say name@domain, in ASCII.".formatted(address));
    }
    if (password.length() < MIN_PASSWORD_CHARS) {
      throw new IllegalArgumentException(
          "A password needs %d characters at least.".formatted(MIN_PASSWORD_CHARS));
    }
    return session.execute(insert.bind(lower, PasswordHash.of(password, iterations))).wasApplied();
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.server;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverConfigLoader;
import io.isolde.client.IsoldeSessionBuilder;
import io.isolde.mail.MailConsistency;
import io.isolde.mail.MailStore;
import io.isolde.mail.delivery.InboxDelivery;
import io.isolde.mail.imap.ImapPort;
import io.isolde.mail.imap.MailAuthenticator;
import io.isolde.mail.login.CqlMailUsers;
import io.isolde.mail.login.MailLogins;
import io.isolde.mail.login.PasswordHash;
import io.isolde.mail.pop3.CqlDropLocks;
import io.isolde.mail.store.cql.ContentSweep;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** What a mail server keeps in a cluster: mailboxes, users and locks. */
public final class MailStorage implements AutoCloseable {

  /**
   * Of a connection to a node. Each mailbox that a client of IMAP has open holds one nearly all the
   * time, and a port has up to 2,000 clients. By default there are 1,024.
   */
  private static final int MAX_REQUESTS = 8_192;

  /** A busy cluster takes seconds. */
  private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(20);

  /**
   * Drivers read the schema once for all changes within 1 s, and each change waits for that: the
   * first start makes a dozen tables.
   */
  private static final Duration SCHEMA_WINDOW = Duration.ofMillis(20);

  /**
   * Where mail is kept.
   *
   * @param nodes some of the cluster's
   * @param user for the cluster; none if it does not ask
   */
  public record Place(
      List<InetSocketAddress> nodes,
      Optional<String> user,
      String password,
      String keyspace,
      MailConsistency consistency) {}

  private final CqlSession session;
  private final MailStore store;
  private final CqlMailUsers users;
  private final MailServer.Parts parts;

  private MailStorage(CqlSession session, Place place, String domain, int iterations) {
    this.session = session;
    // The store makes the keyspace, where the users are; but it wants to know who may log in.
    MailAuthenticator authenticator = new MailAuthenticator(this::logins);
    store =
        MailStore.open(
            session, place.keyspace(), place.consistency(), authenticator, authenticator);
    users = CqlMailUsers.open(session, place.keyspace(), iterations);
    parts =
        new MailServer.Parts(
            MailLogins.of(users, domain, iterations),
            new InboxDelivery(store.mailboxManager()),
            CqlDropLocks.open(session, place.keyspace()),
            new ImapPort.Store(
                store.mailboxManager(),
                store.subscriptionManager(),
                store.eventBus(),
                store.quotaManager(),
                store.quotaRootResolver()));
  }

  /**
   * Opens it, and creates what is missing.
   *
   * @param domain of users who leave it out
   * @param iterations of the hashes of new passwords; see {@link PasswordHash}
   * @throws com.datastax.oss.driver.api.core.DriverException if the cluster does not answer
   * @throws IllegalArgumentException if the keyspace has another consistency, or no such name
   */
  public static MailStorage open(Place place, String domain, int iterations) {
    CqlSession session = connect(place);
    try {
      return new MailStorage(session, place, domain, iterations);
    } catch (RuntimeException e) {
      session.close();
      throw e;
    }
  }

  private static CqlSession connect(Place place) {
    IsoldeSessionBuilder builder = new IsoldeSessionBuilder();
    builder
        .addContactPoints(place.nodes())
        .withConfigLoader(
            DriverConfigLoader.programmaticBuilder()
                .withString(
                    DefaultDriverOption.LOAD_BALANCING_POLICY_CLASS,
                    "DcInferringLoadBalancingPolicy")
                .withDuration(DefaultDriverOption.REQUEST_TIMEOUT, REQUEST_TIMEOUT)
                .withInt(DefaultDriverOption.CONNECTION_MAX_REQUESTS, MAX_REQUESTS)
                .withDuration(DefaultDriverOption.METADATA_SCHEMA_WINDOW, SCHEMA_WINDOW)
                .withDuration(DefaultDriverOption.CONNECTION_INIT_QUERY_TIMEOUT, REQUEST_TIMEOUT)
                .withDuration(DefaultDriverOption.CONTROL_CONNECTION_TIMEOUT, REQUEST_TIMEOUT)
                .withDuration(DefaultDriverOption.RECONNECTION_BASE_DELAY, Duration.ofMillis(500))
                .withDuration(DefaultDriverOption.RECONNECTION_MAX_DELAY, Duration.ofSeconds(2))
                .build());
    place.user().ifPresent(user -> builder.withAuthCredentials(user, place.password()));
    return builder.build();
  }

  private MailLogins logins() {
    return parts.logins();
  }

  /** The users. */
  public CqlMailUsers users() {
    return users;
  }

  /** What removes content that crashes have left. */
  public ContentSweep contentSweep() {
    return store.contentSweep();
  }

  /** What a server needs. */
  public MailServer.Parts parts() {
    return parts;
  }

  /** Closes all of it; a server has to be closed before. */
  @Override
  public void close() {
    parts.locks().close();
    store.close();
    session.close();
  }
}

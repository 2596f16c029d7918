// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail;

import com.datastax.oss.driver.api.core.CqlSession;
import io.isolde.mail.store.cql.ContentSweep;
import io.isolde.mail.store.cql.MailboxStore;
import io.isolde.mail.store.james.JamesMailboxes;
import java.util.Objects;
import org.apache.james.events.EventBus;
import org.apache.james.mailbox.Authenticator;
import org.apache.james.mailbox.Authorizator;
import org.apache.james.mailbox.MailboxManager;
import org.apache.james.mailbox.MessageIdManager;
import org.apache.james.mailbox.SubscriptionManager;
import org.apache.james.mailbox.quota.QuotaManager;
import org.apache.james.mailbox.quota.QuotaRootResolver;

/**
 * Mailboxes in a keyspace, as the managers of Apache James. Methods return the same object each
 * time, for all threads.
 *
 * <p>The session stays the caller's, and so do its time-outs. With strong keyspaces it should come
 * from an {@code IsoldeSessionBuilder}. Several processes may open the same keyspace.
 */
public final class MailStore implements AutoCloseable {
  private final JamesMailboxes mailboxes;
  private final ContentSweep sweep;

  private MailStore(JamesMailboxes mailboxes, ContentSweep sweep) {
    this.mailboxes = mailboxes;
    this.sweep = sweep;
  }

  /**
   * As {@link #open(CqlSession, String, MailConsistency, Authenticator, Authorizator)}, but no
   * password is right: for sessions that the caller vouches for.
   */
  public static MailStore open(CqlSession session, String keyspace, MailConsistency consistency) {
    return open(
        session,
        keyspace,
        consistency,
        (user, password) -> false,
        (user, other) -> Authorizator.AuthorizationState.FORBIDDEN);
  }

  /**
   * Opens the mailboxes of a keyspace. Creates the keyspace, with up to three replicas, and its
   * tables if they are missing; that takes seconds.
   *
   * @param keyspace of lower case letters, digits and _
   * @param consistency as of whoever has opened the keyspace first
   * @param authenticator whether a password is that of a user
   * @param authorizator whether a user may act as another one
   * @throws IllegalArgumentException if the keyspace has another consistency, or no such name
   * @throws com.datastax.oss.driver.api.core.DriverException if the cluster does not answer
   */
  public static MailStore open(
      CqlSession session,
      String keyspace,
      MailConsistency consistency,
      Authenticator authenticator,
      Authorizator authorizator) {
    Objects.requireNonNull(authenticator, "authenticator");
    Objects.requireNonNull(authorizator, "authorizator");
    MailboxStore store =
        switch (consistency) {
          case TRANSACTIONAL -> MailboxStore.transactional(session, keyspace);
          case STRONG -> MailboxStore.strong(session, keyspace);
          case QUORUM -> MailboxStore.quorum(session, keyspace);
          case SERIAL -> MailboxStore.serial(session, keyspace);
        };
    return new MailStore(new JamesMailboxes(store, authenticator, authorizator), store.sweep());
  }

  /** Mailboxes, and sessions of users. */
  public MailboxManager mailboxManager() {
    return mailboxes.mailboxManager();
  }

  /** Which mailboxes users want to see. */
  public SubscriptionManager subscriptionManager() {
    return mailboxes.subscriptionManager();
  }

  /** Messages by id, in whichever mailboxes they are. */
  public MessageIdManager messageIdManager() {
    return mailboxes.messageIdManager();
  }

  /** What sessions of this process hear of changes by, those of other processes included. */
  public EventBus eventBus() {
    return mailboxes.events();
  }

  /** Without limits. */
  public QuotaManager quotaManager() {
    return mailboxes.mailboxManager().getQuotaComponents().getQuotaManager();
  }

  public QuotaRootResolver quotaRootResolver() {
    return mailboxes.mailboxManager().getQuotaComponents().getQuotaRootResolver();
  }

  /** What removes content that crashes have left. */
  public ContentSweep contentSweep() {
    return sweep;
  }

  /** Ends the watches of mailboxes that somebody listens to. */
  @Override
  public void close() {
    mailboxes.close();
  }
}

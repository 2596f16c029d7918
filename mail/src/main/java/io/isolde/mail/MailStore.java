// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail;

import com.datastax.oss.driver.api.core.CqlSession;
import org.apache.james.events.EventBus;
import org.apache.james.mailbox.Authenticator;
import org.apache.james.mailbox.Authorizator;
import org.apache.james.mailbox.MailboxManager;
import org.apache.james.mailbox.MessageIdManager;
import org.apache.james.mailbox.SubscriptionManager;
import org.apache.james.mailbox.quota.QuotaManager;
import org.apache.james.mailbox.quota.QuotaRootResolver;

/**
 * Mailboxes in a keyspace. All methods return the same object each time, for all threads; the
 * session stays the caller's.
 */
public final class MailStore implements AutoCloseable {

  /** As the other one, but no password is right: for sessions that the caller vouches for. */
  public static MailStore open(CqlSession session, String keyspace, Consistency consistency) {
    throw new UnsupportedOperationException();
  }

  /**
   * Opens the mailboxes of a keyspace. Creates the keyspace and its tables if they are missing.
   *
   * @param authenticator whether a password is that of a user
   * @param authorizator whether a user may act as another one
   */
  public static MailStore open(
      CqlSession session,
      String keyspace,
      Consistency consistency,
      Authenticator authenticator,
      Authorizator authorizator) {
    throw new UnsupportedOperationException();
  }

  public MailboxManager mailboxManager() {
    throw new UnsupportedOperationException();
  }

  public SubscriptionManager subscriptionManager() {
    throw new UnsupportedOperationException();
  }

  public MessageIdManager messageIdManager() {
    throw new UnsupportedOperationException();
  }

  /** What sessions of this process hear of changes by; it knows nothing of other processes. */
  public EventBus eventBus() {
    throw new UnsupportedOperationException();
  }

  /** No quotas. */
  public QuotaManager quotaManager() {
    throw new UnsupportedOperationException();
  }

  public QuotaRootResolver quotaRootResolver() {
    throw new UnsupportedOperationException();
  }

  @Override
  public void close() {}
}

// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import io.isolde.mail.store.cql.CqlStore;
import java.time.Clock;
import java.util.EnumSet;
import org.apache.james.events.EventBus;
import org.apache.james.events.InVMEventBus;
import org.apache.james.events.MemoryEventDeadLetters;
import org.apache.james.events.RetryBackoffConfiguration;
import org.apache.james.events.delivery.InVmEventDelivery;
import org.apache.james.mailbox.Authenticator;
import org.apache.james.mailbox.Authorizator;
import org.apache.james.mailbox.MessageIdManager;
import org.apache.james.mailbox.SessionProvider;
import org.apache.james.mailbox.SubscriptionManager;
import org.apache.james.mailbox.acl.UnionMailboxACLResolver;
import org.apache.james.mailbox.exception.AttachmentNotFoundException;
import org.apache.james.mailbox.store.MailboxManagerConfiguration;
import org.apache.james.mailbox.store.MailboxSessionMapperFactory;
import org.apache.james.mailbox.store.NoMailboxPathLocker;
import org.apache.james.mailbox.store.PreDeletionHooks;
import org.apache.james.mailbox.store.SessionProviderImpl;
import org.apache.james.mailbox.store.StoreMailboxAnnotationManager;
import org.apache.james.mailbox.store.StoreMailboxManager;
import org.apache.james.mailbox.store.StoreMessageIdManager;
import org.apache.james.mailbox.store.StoreRightManager;
import org.apache.james.mailbox.store.StoreSubscriptionManager;
import org.apache.james.mailbox.store.extractor.DefaultTextExtractor;
import org.apache.james.mailbox.store.mail.NaiveThreadIdGuessingAlgorithm;
import org.apache.james.mailbox.store.mail.model.impl.MessageParser;
import org.apache.james.mailbox.store.quota.QuotaComponents;
import org.apache.james.mailbox.store.search.MessageSearchIndex;
import org.apache.james.mailbox.store.search.SimpleMessageSearchIndex;

/**
 * The managers of James over a store.
 *
 * <p>No attachment is stored by itself: it is in the body, where IMAP finds it. There are no
 * quotas, and a search reads the messages.
 */
public final class JamesMailboxes {
  private final StoreMailboxManager mailboxManager;
  private final SubscriptionManager subscriptionManager;
  private final MessageIdManager messageIdManager;

  public JamesMailboxes(CqlStore store, Authenticator authenticator, Authorizator authorizator) {
    this(
        store,
        authenticator,
        authorizator,
        PreDeletionHooks.NO_PRE_DELETION_HOOK,
        Clock.systemUTC());
  }

  /**
   * @param hooks asked before messages are deleted
   * @param clock says when messages are saved
   */
  JamesMailboxes(
      CqlStore store,
      Authenticator authenticator,
      Authorizator authorizator,
      PreDeletionHooks hooks,
      Clock clock) {
    CqlMapperFactory mappers = new CqlMapperFactory(store, clock);
    EventBus events =
        new InVMEventBus(
            new InVmEventDelivery(new NoMetrics()),
            RetryBackoffConfiguration.DEFAULT,
            new MemoryEventDeadLetters());
    SessionProvider sessions = new SessionProviderImpl(authenticator, authorizator);
    StoreRightManager rights =
        new StoreRightManager(mappers, new UnionMailboxACLResolver(), events);
    QuotaComponents quotas = QuotaComponents.disabled(sessions, mappers);
    MessageSearchIndex search =
        new SimpleMessageSearchIndex(
            mappers,
            mappers,
            new DefaultTextExtractor(),
            (attachment, session) -> {
              throw new AttachmentNotFoundException(attachment.getAttachmentId().getId());
            });
    this.mailboxManager =
        new Mailboxes(mappers, sessions, events, rights, quotas, search, hooks, clock);
    this.subscriptionManager = new StoreSubscriptionManager(mappers, mappers, events);
    this.messageIdManager =
        new StoreMessageIdManager(
            rights,
            mappers,
            events,
            quotas.getQuotaManager(),
            quotas.getQuotaRootResolver(),
            hooks);
  }

  public StoreMailboxManager mailboxManager() {
    return mailboxManager;
  }

  public SubscriptionManager subscriptionManager() {
    return subscriptionManager;
  }

  public MessageIdManager messageIdManager() {
    return messageIdManager;
  }

  /** Says what this store can do. The store itself keeps names apart, so nothing is locked here. */
  private static final class Mailboxes extends StoreMailboxManager {
    Mailboxes(
        MailboxSessionMapperFactory mappers,
        SessionProvider sessions,
        EventBus events,
        StoreRightManager rights,
        QuotaComponents quotas,
        MessageSearchIndex search,
        PreDeletionHooks hooks,
        Clock clock) {
      super(
          mappers,
          sessions,
          new NoMailboxPathLocker(),
          new MessageParser(),
          new UuidMessageId.Factory(),
          new StoreMailboxAnnotationManager(mappers, rights),
          events,
          rights,
          quotas,
          search,
          MailboxManagerConfiguration.DEFAULT,
          hooks,
          new NaiveThreadIdGuessingAlgorithm(),
          clock);
    }

    @Override
    public EnumSet<MailboxCapabilities> getSupportedMailboxCapabilities() {
      return EnumSet.of(
          MailboxCapabilities.Move,
          MailboxCapabilities.UserFlag,
          MailboxCapabilities.Namespace,
          MailboxCapabilities.Annotation,
          MailboxCapabilities.ACL);
    }

    @Override
    public EnumSet<MessageCapabilities> getSupportedMessageCapabilities() {
      return EnumSet.of(MessageCapabilities.UniqueID);
    }
  }
}

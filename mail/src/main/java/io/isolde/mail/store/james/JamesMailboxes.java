// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import io.isolde.mail.store.cql.MailboxStore;
import java.time.Clock;
import java.util.EnumSet;
import org.apache.james.events.EventBus;
import org.apache.james.events.InVMEventBus;
import org.apache.james.events.MemoryEventDeadLetters;
import org.apache.james.events.RetryBackoffConfiguration;
import org.apache.james.events.delivery.InVmEventDelivery;
import org.apache.james.mailbox.Authenticator;
import org.apache.james.mailbox.Authorizator;
import org.apache.james.mailbox.MailboxSession;
import org.apache.james.mailbox.MessageIdManager;
import org.apache.james.mailbox.SessionProvider;
import org.apache.james.mailbox.SubscriptionManager;
import org.apache.james.mailbox.acl.UnionMailboxACLResolver;
import org.apache.james.mailbox.exception.AttachmentNotFoundException;
import org.apache.james.mailbox.model.Mailbox;
import org.apache.james.mailbox.model.MailboxConstants;
import org.apache.james.mailbox.store.MailboxManagerConfiguration;
import org.apache.james.mailbox.store.MailboxSessionMapperFactory;
import org.apache.james.mailbox.store.MessageFactory;
import org.apache.james.mailbox.store.MessageStorer;
import org.apache.james.mailbox.store.NoMailboxPathLocker;
import org.apache.james.mailbox.store.PreDeletionHooks;
import org.apache.james.mailbox.store.SessionProviderImpl;
import org.apache.james.mailbox.store.StoreMailboxAnnotationManager;
import org.apache.james.mailbox.store.StoreMailboxManager;
import org.apache.james.mailbox.store.StoreMessageIdManager;
import org.apache.james.mailbox.store.StoreMessageManager;
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
public final class JamesMailboxes implements AutoCloseable {
  private final StoreMailboxManager mailboxManager;
  private final SubscriptionManager subscriptionManager;
  private final MessageIdManager messageIdManager;
  private final SharedEvents sharedEvents;

  /**
   * @param authenticator whether a password is that of a user
   * @param authorizator whether a user may act as another one
   */
  public JamesMailboxes(
      MailboxStore store, Authenticator authenticator, Authorizator authorizator) {
    this(
        store,
        authenticator,
        authorizator,
        PreDeletionHooks.NO_PRE_DELETION_HOOK,
        new AnnotationLimits(
            MailboxConstants.DEFAULT_LIMIT_ANNOTATIONS_ON_MAILBOX,
            MailboxConstants.DEFAULT_LIMIT_ANNOTATION_SIZE),
        Clock.systemUTC());
  }

  /** How many annotations a mailbox may have, and how many characters each. */
  record AnnotationLimits(int count, int characters) {}

  /**
   * @param hooks asked before messages are deleted
   * @param clock says when messages are saved
   */
  JamesMailboxes(
      MailboxStore store,
      Authenticator authenticator,
      Authorizator authorizator,
      PreDeletionHooks hooks,
      AnnotationLimits limits,
      Clock clock) {
    CqlMapperFactory mappers = new CqlMapperFactory(store, clock);
    EventBus events =
        new InVMEventBus(
            new InVmEventDelivery(new NoMetrics()),
            RetryBackoffConfiguration.DEFAULT,
            new MemoryEventDeadLetters());
    this.sharedEvents = new SharedEvents(events, store.reads(), store.signals());
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
        new Mailboxes(
            mappers,
            sessions,
            events,
            rights,
            new StoreMailboxAnnotationManager(mappers, rights, limits.count(), limits.characters()),
            quotas,
            search,
            hooks,
            clock);
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

  /** Mailboxes, sessions of users and the bus of events. */
  public StoreMailboxManager mailboxManager() {
    return mailboxManager;
  }

  /** What who listens to a mailbox hears, of this server and of all others. */
  public EventBus events() {
    return sharedEvents;
  }

  /** How many mailboxes somebody listens to, and are watched for that. */
  int watched() {
    return sharedEvents.watched();
  }

  @Override
  public void close() {
    sharedEvents.close();
  }

  /** Which mailboxes users want to see. */
  public SubscriptionManager subscriptionManager() {
    return subscriptionManager;
  }

  /** Messages by id, in whichever mailboxes they are. */
  public MessageIdManager messageIdManager() {
    return messageIdManager;
  }

  /** Says what this store can do. The store itself keeps names apart, so nothing is locked here. */
  private static final class Mailboxes extends StoreMailboxManager {
    private final MailboxSessionMapperFactory mappers;
    private final PreDeletionHooks hooks;
    private final MessageStorer storer;

    Mailboxes(
        MailboxSessionMapperFactory mappers,
        SessionProvider sessions,
        EventBus events,
        StoreRightManager rights,
        StoreMailboxAnnotationManager annotations,
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
          annotations,
          events,
          rights,
          quotas,
          search,
          MailboxManagerConfiguration.DEFAULT,
          hooks,
          new NaiveThreadIdGuessingAlgorithm(),
          clock);
      this.mappers = mappers;
      this.hooks = hooks;
      this.storer =
          new MessageStorer.WithoutAttachment(
              mappers,
              new UuidMessageId.Factory(),
              new MessageFactory.StoreMessageFactory(),
              new NaiveThreadIdGuessingAlgorithm(),
              clock);
    }

    @Override
    protected StoreMessageManager createMessageManager(Mailbox mailbox, MailboxSession session) {
      return new WaitingMessageManager(
          mappers,
          getMessageSearchIndex(),
          getEventBus(),
          mailbox,
          getQuotaComponents(),
          getStoreRightManager(),
          hooks,
          storer);
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

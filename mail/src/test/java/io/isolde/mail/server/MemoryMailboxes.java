// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.server;

import io.isolde.mail.imap.ImapPort;
import io.isolde.mail.imap.MailAuthenticator;
import io.isolde.mail.store.james.NoMetrics;
import java.time.Clock;
import org.apache.james.events.EventBus;
import org.apache.james.events.InVMEventBus;
import org.apache.james.events.MemoryEventDeadLetters;
import org.apache.james.events.RetryBackoffConfiguration;
import org.apache.james.events.delivery.InVmEventDelivery;
import org.apache.james.mailbox.acl.UnionMailboxACLResolver;
import org.apache.james.mailbox.exception.AttachmentNotFoundException;
import org.apache.james.mailbox.inmemory.InMemoryMailboxManager;
import org.apache.james.mailbox.inmemory.InMemoryMailboxSessionMapperFactory;
import org.apache.james.mailbox.inmemory.InMemoryMessageId;
import org.apache.james.mailbox.store.JVMMailboxPathLocker;
import org.apache.james.mailbox.store.PreDeletionHooks;
import org.apache.james.mailbox.store.SessionProviderImpl;
import org.apache.james.mailbox.store.StoreMailboxAnnotationManager;
import org.apache.james.mailbox.store.StoreRightManager;
import org.apache.james.mailbox.store.StoreSubscriptionManager;
import org.apache.james.mailbox.store.extractor.DefaultTextExtractor;
import org.apache.james.mailbox.store.mail.NaiveThreadIdGuessingAlgorithm;
import org.apache.james.mailbox.store.mail.model.impl.MessageParser;
import org.apache.james.mailbox.store.quota.QuotaComponents;
import org.apache.james.mailbox.store.search.SimpleMessageSearchIndex;

/** James' mailboxes in memory: protocols are tested without a node. */
final class MemoryMailboxes {
  private MemoryMailboxes() {}

  static ImapPort.Store open(MailAuthenticator authenticator) {
    Clock clock = Clock.systemUTC();
    InMemoryMailboxSessionMapperFactory mappers = new InMemoryMailboxSessionMapperFactory(clock);
    EventBus events =
        new InVMEventBus(
            new InVmEventDelivery(new NoMetrics()),
            RetryBackoffConfiguration.DEFAULT,
            new MemoryEventDeadLetters());
    SessionProviderImpl sessions = new SessionProviderImpl(authenticator, authenticator);
    StoreRightManager rights =
        new StoreRightManager(mappers, new UnionMailboxACLResolver(), events);
    QuotaComponents quotas = QuotaComponents.disabled(sessions, mappers);
    InMemoryMailboxManager manager =
        new InMemoryMailboxManager(
            mappers,
            sessions,
            new JVMMailboxPathLocker(),
            new MessageParser(),
            new InMemoryMessageId.Factory(),
            events,
            new StoreMailboxAnnotationManager(mappers, rights),
            rights,
            quotas,
            new SimpleMessageSearchIndex(
                mappers,
                mappers,
                new DefaultTextExtractor(),
                (attachment, session) -> {
                  throw new AttachmentNotFoundException(attachment.getAttachmentId().getId());
                }),
            PreDeletionHooks.NO_PRE_DELETION_HOOK,
            new NaiveThreadIdGuessingAlgorithm(),
            clock);
    return new ImapPort.Store(
        manager,
        new StoreSubscriptionManager(mappers, mappers, events),
        events,
        quotas.getQuotaManager(),
        quotas.getQuotaRootResolver());
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import io.isolde.mail.store.DeliveryId;
import io.isolde.mail.store.cql.MailboxStore;
import java.time.Clock;
import java.util.Optional;
import org.apache.james.mailbox.MailboxSession;
import org.apache.james.mailbox.store.MailboxSessionMapperFactory;
import org.apache.james.mailbox.store.mail.AnnotationMapper;
import org.apache.james.mailbox.store.mail.MailboxMapper;
import org.apache.james.mailbox.store.mail.MessageIdMapper;
import org.apache.james.mailbox.store.mail.MessageMapper;
import org.apache.james.mailbox.store.mail.ModSeqProvider;
import org.apache.james.mailbox.store.mail.UidProvider;
import org.apache.james.mailbox.store.user.SubscriptionMapper;

/** The mappers of a store: the same for all sessions, but for the messages of a delivery. */
public final class CqlMapperFactory extends MailboxSessionMapperFactory {
  private final MailboxStore store;
  private final Clock clock;
  private final CqlMailboxMapper mailboxes;
  private final CqlMessageMapper messages;
  private final CqlMessageIdMapper messagesById;
  private final CqlSubscriptionMapper subscriptions;
  private final CqlAnnotationMapper annotations;
  private final GivenNumbers numbers;

  public CqlMapperFactory(MailboxStore store, Clock clock) {
    this.store = store;
    this.clock = clock;
    this.mailboxes = new CqlMailboxMapper(store);
    this.messages = new CqlMessageMapper(store, clock, Optional.empty());
    this.messagesById = new CqlMessageIdMapper(store, clock);
    this.subscriptions = new CqlSubscriptionMapper(store);
    this.annotations = new CqlAnnotationMapper(store);
    this.numbers = new GivenNumbers(store);
  }

  @Override
  public MailboxMapper createMailboxMapper(MailboxSession session) {
    return mailboxes;
  }

  @Override
  public MessageMapper createMessageMapper(MailboxSession session) {
    Optional<DeliveryId> delivery = DeliverySession.of(session);
    return delivery.isPresent() ? new CqlMessageMapper(store, clock, delivery) : messages;
  }

  @Override
  public MessageIdMapper createMessageIdMapper(MailboxSession session) {
    return messagesById;
  }

  @Override
  public SubscriptionMapper createSubscriptionMapper(MailboxSession session) {
    return subscriptions;
  }

  @Override
  public AnnotationMapper createAnnotationMapper(MailboxSession session) {
    return annotations;
  }

  @Override
  public UidProvider getUidProvider() {
    return numbers;
  }

  @Override
  public ModSeqProvider getModSeqProvider() {
    return numbers;
  }
}

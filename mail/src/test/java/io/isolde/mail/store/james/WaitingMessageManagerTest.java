// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.ArgumentMatchers.anyInt;
import static org.mockito.Mockito.mock;
import static org.mockito.Mockito.when;

import com.datastax.oss.driver.api.core.DriverTimeoutException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import javax.mail.Flags;
import org.apache.commons.lang3.tuple.Pair;
import org.apache.james.core.Username;
import org.apache.james.events.Event;
import org.apache.james.events.EventBus;
import org.apache.james.events.RegistrationKey;
import org.apache.james.mailbox.MailboxSession;
import org.apache.james.mailbox.MessageManager.AppendCommand;
import org.apache.james.mailbox.MessageUid;
import org.apache.james.mailbox.ModSeq;
import org.apache.james.mailbox.SessionProvider;
import org.apache.james.mailbox.exception.MailboxException;
import org.apache.james.mailbox.model.FetchGroup;
import org.apache.james.mailbox.model.Mailbox;
import org.apache.james.mailbox.model.MailboxPath;
import org.apache.james.mailbox.model.MessageMetaData;
import org.apache.james.mailbox.model.MessageRange;
import org.apache.james.mailbox.model.MessageResult;
import org.apache.james.mailbox.model.ThreadId;
import org.apache.james.mailbox.model.UidValidity;
import org.apache.james.mailbox.store.MailboxSessionMapperFactory;
import org.apache.james.mailbox.store.MessageStorer;
import org.apache.james.mailbox.store.PreDeletionHooks;
import org.apache.james.mailbox.store.StoreRightManager;
import org.apache.james.mailbox.store.mail.MessageMapper;
import org.apache.james.mailbox.store.mail.model.MailboxMessage;
import org.apache.james.mailbox.store.quota.QuotaComponents;
import org.apache.james.mailbox.store.search.MessageSearchIndex;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class WaitingMessageManagerTest {
  private static final Username ALICE = Username.of("alice@isolde.test");

  private final MessageMapper mapper = mock(MessageMapper.class);
  private final MessageStorer storer = mock(MessageStorer.class);
  private final MailboxSession session = mock(MailboxSession.class);
  private final WaitingMessageManager mailbox = mailbox();

  private WaitingMessageManager mailbox() {
    MailboxSessionMapperFactory mappers = mock(MailboxSessionMapperFactory.class);
    when(mappers.getMessageMapper(any())).thenReturn(mapper);
    StoreRightManager rights = mock(StoreRightManager.class);
    when(rights.isReadWrite(any(), any(), any())).thenReturn(true);
    EventBus events = mock(EventBus.class);
    when(events.dispatch(any(Event.class), any(RegistrationKey.class))).thenReturn(Mono.empty());
    when(session.getUser()).thenReturn(ALICE);
    when(session.getSessionId()).thenReturn(MailboxSession.SessionId.of(1));
    return new WaitingMessageManager(
        mappers,
        mock(MessageSearchIndex.class),
        events,
        new Mailbox(
            MailboxPath.inbox(ALICE), UidValidity.of(1), new UuidMailboxId(UUID.randomUUID())),
        QuotaComponents.disabled(mock(SessionProvider.class), mappers),
        rights,
        PreDeletionHooks.NO_PRE_DELETION_HOOK,
        storer);
  }

  @Test
  void whenTheFirstMessagesCantBeReadThenTheMailboxIsNotTakenForEmpty() throws Exception {
    when(mapper.findInMailbox(any(), any(), any(), anyInt()))
        .thenThrow(new MailboxException("The cluster is away"));
    Iterator<MessageResult> found =
        mailbox.getMessages(MessageRange.all(), FetchGroup.MINIMAL, session);
    assertThatThrownBy(found::hasNext)
        .isInstanceOf(IllegalStateException.class)
        .hasRootCauseMessage("The cluster is away");
  }

  @Test
  void whenALaterMessageCantBeReadThenTheDriversErrorIsOneOfJames() throws Exception {
    Iterator<MailboxMessage> broken =
        new Iterator<>() {
          @Override
          public boolean hasNext() {
            throw new DriverTimeoutException("too late");
          }

          @Override
          public MailboxMessage next() {
            throw new AssertionError("there is none");
          }
        };
    when(mapper.findInMailbox(any(), any(), any(), anyInt())).thenReturn(broken);
    Iterator<MessageResult> found =
        mailbox.getMessages(MessageRange.all(), FetchGroup.MINIMAL, session);
    assertThatThrownBy(found::hasNext)
        .isInstanceOf(IllegalStateException.class)
        .hasCauseInstanceOf(MailboxException.class);
  }

  @Test
  void whenAMessageIsAppendedThenItIsStoredByWhoAppendsIt() throws Exception {
    List<Thread> threads = new ArrayList<>();
    List<Flags> flags = new ArrayList<>();
    UuidMessageId id = new UuidMessageId(UUID.randomUUID());
    when(storer.appendMessageToStore(
            any(), any(), anyInt(), anyInt(), any(), any(), any(), any(), any(), any()))
        .thenAnswer(
            call -> {
              threads.add(Thread.currentThread());
              flags.add(call.getArgument(5));
              assertThat(call.<Integer>getArgument(3)).as("the start of the body").isEqualTo(14);
              return Mono.just(
                  Pair.of(
                      new MessageMetaData(
                          MessageUid.of(7),
                          ModSeq.of(1),
                          call.getArgument(5),
                          call.<Integer>getArgument(2),
                          call.getArgument(1),
                          Optional.empty(),
                          id,
                          ThreadId.fromBaseMessageId(id)),
                      Optional.empty()));
            });
    Flags mine = new Flags("mine");
    byte[] message = "Subject: a\r\n\r\ntext\r\n".getBytes(StandardCharsets.US_ASCII);
    assertThat(
            mailbox
                .appendMessage(
                    AppendCommand.builder().recent().withFlags(mine).build(message), session)
                .getId()
                .getUid())
        .isEqualTo(MessageUid.of(7));
    assertThat(threads).containsExactly(Thread.currentThread());
    Flags stored = new Flags("mine");
    stored.add(Flags.Flag.RECENT);
    assertThat(flags).containsExactly(stored);
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import com.datastax.oss.driver.api.core.CqlSession;
import com.datastax.oss.driver.api.core.uuid.Uuids;
import io.isolde.junit.IsoldeTest;
import io.isolde.mail.store.cql.MailboxStore;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.apache.james.core.Username;
import org.apache.james.events.EventBus;
import org.apache.james.mailbox.Authorizator;
import org.apache.james.mailbox.MailboxManagerStressContract;
import org.apache.james.mailbox.MailboxManagerTest;
import org.apache.james.mailbox.MailboxSessionUtil;
import org.apache.james.mailbox.MessageUid;
import org.apache.james.mailbox.ModSeq;
import org.apache.james.mailbox.SubscriptionManager;
import org.apache.james.mailbox.exception.MailboxException;
import org.apache.james.mailbox.exception.MailboxNotFoundException;
import org.apache.james.mailbox.extension.PreDeletionHook;
import org.apache.james.mailbox.model.Mailbox;
import org.apache.james.mailbox.model.MailboxId;
import org.apache.james.mailbox.model.MessageId;
import org.apache.james.mailbox.store.PreDeletionHooks;
import org.apache.james.mailbox.store.StoreMailboxManager;
import org.apache.james.mailbox.store.mail.AnnotationMapper;
import org.apache.james.mailbox.store.mail.AttachmentMapper;
import org.apache.james.mailbox.store.mail.MailboxMapper;
import org.apache.james.mailbox.store.mail.MessageIdMapper;
import org.apache.james.mailbox.store.mail.MessageMapper;
import org.apache.james.mailbox.store.mail.model.AnnotationMapperTest;
import org.apache.james.mailbox.store.mail.model.MailboxMapperACLTest;
import org.apache.james.mailbox.store.mail.model.MailboxMapperTest;
import org.apache.james.mailbox.store.mail.model.MapperProvider;
import org.apache.james.mailbox.store.mail.model.MessageIdMapperTest;
import org.apache.james.mailbox.store.mail.model.MessageMapperTest;
import org.apache.james.mailbox.store.mail.model.MessageMoveTest;
import org.apache.james.mailbox.store.mail.model.MessageUidProvider;
import org.apache.james.mailbox.store.user.SubscriptionMapper;
import org.apache.james.mailbox.store.user.SubscriptionMapperTest;
import org.apache.james.utils.UpdatableTickingClock;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.TestInstance;

/** The tests of Apache James over one store. Each test finds the keyspace without mailboxes. */
@IsoldeTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class JamesContracts {
  private final UpdatableTickingClock clock = new UpdatableTickingClock(Instant.now());
  private EmptyKeyspace keyspace;
  private MailboxStore store;
  private CqlMapperFactory mappers;

  /** Opens the store that is tested. */
  abstract MailboxStore open(CqlSession session, String keyspaceName);

  /** Whether changes of two processes at the same time keep both. */
  boolean hasThreadSafeFlags() {
    return true;
  }

  @BeforeAll
  void open(CqlSession session) {
    String name = "mail_" + getClass().getSimpleName().toLowerCase(java.util.Locale.ROOT);
    store = open(session, name);
    mappers = new CqlMapperFactory(store, clock);
    keyspace = new EmptyKeyspace(session, name);
  }

  @BeforeEach
  void empty() {
    keyspace.empty();
  }

  private final class Provider implements MapperProvider {
    private final MessageUidProvider uids = new MessageUidProvider();

    @Override
    public List<Capabilities> getSupportedCapabilities() {
      List<Capabilities> capabilities =
          new ArrayList<>(
              List.of(
                  Capabilities.MESSAGE,
                  Capabilities.MAILBOX,
                  Capabilities.ANNOTATION,
                  Capabilities.MOVE,
                  Capabilities.UNIQUE_MESSAGE_ID,
                  Capabilities.INCREMENTAL_APPLICABLE_FLAGS,
                  Capabilities.ACL_STORAGE));
      if (hasThreadSafeFlags()) {
        capabilities.add(Capabilities.THREAD_SAFE_FLAGS_UPDATE);
      }
      return capabilities;
    }

    @Override
    public MailboxMapper createMailboxMapper() {
      return mappers.createMailboxMapper(null);
    }

    @Override
    public MessageMapper createMessageMapper() {
      return mappers.createMessageMapper(MailboxSessionUtil.create(Username.of("somebody")));
    }

    @Override
    public MessageIdMapper createMessageIdMapper() {
      return mappers.createMessageIdMapper(null);
    }

    @Override
    public AttachmentMapper createAttachmentMapper() {
      throw new UnsupportedOperationException("Attachments are in bodies.");
    }

    @Override
    public MailboxId generateId() {
      return new UuidMailboxId(UUID.randomUUID());
    }

    @Override
    public MessageUid generateMessageUid() {
      return uids.next();
    }

    /** One test asks for that of a mailbox that is not there, before it saves there. */
    @Override
    public ModSeq generateModSeq(Mailbox mailbox) throws MailboxException {
      try {
        return mappers.getModSeqProvider().nextModSeq(mailbox);
      } catch (MailboxNotFoundException e) {
        return ModSeq.first().next();
      }
    }

    @Override
    public ModSeq highestModSeq(Mailbox mailbox) throws MailboxException {
      return mappers.getModSeqProvider().highestModSeq(mailbox);
    }

    @Override
    public boolean supportPartialAttachmentFetch() {
      return false;
    }

    @Override
    public MessageId generateMessageId() {
      return new UuidMessageId(Uuids.timeBased());
    }
  }

  private JamesMailboxes mailboxes(Set<PreDeletionHook> hooks) {
    return new JamesMailboxes(
        store,
        (user, password) -> false,
        (user, other) -> Authorizator.AuthorizationState.FORBIDDEN,
        new PreDeletionHooks(hooks, new NoMetrics()),
        new JamesMailboxes.AnnotationLimits(3, 30), // as the tests expect
        clock);
  }

  @Nested
  class Mailboxes extends MailboxMapperTest {
    @Override
    protected MailboxMapper createMailboxMapper() {
      return mappers.createMailboxMapper(null);
    }

    @Override
    protected MailboxId generateId() {
      return new UuidMailboxId(UUID.randomUUID());
    }
  }

  @Nested
  class Rights extends MailboxMapperACLTest {
    @Override
    protected MailboxMapper createMailboxMapper() {
      return mappers.createMailboxMapper(null);
    }
  }

  @Nested
  class Messages extends MessageMapperTest {
    @Override
    protected MapperProvider createMapperProvider() {
      return new Provider();
    }

    @Override
    protected UpdatableTickingClock updatableTickingClock() {
      return clock;
    }
  }

  @Nested
  class MessagesById extends MessageIdMapperTest {
    @Override
    protected MapperProvider provideMapper() {
      return new Provider();
    }

    @Override
    protected UpdatableTickingClock updatableTickingClock() {
      return clock;
    }
  }

  @Nested
  class Moves extends MessageMoveTest {
    @Override
    protected MapperProvider createMapperProvider() {
      return new Provider();
    }
  }

  @Nested
  class Subscriptions extends SubscriptionMapperTest {
    @Override
    protected SubscriptionMapper createSubscriptionMapper() {
      return mappers.createSubscriptionMapper(null);
    }
  }

  @Nested
  class Annotations extends AnnotationMapperTest {
    @Override
    protected AnnotationMapper createAnnotationMapper() {
      return mappers.createAnnotationMapper(null);
    }

    @Override
    protected MailboxId generateMailboxId() {
      return new UuidMailboxId(UUID.randomUUID());
    }
  }

  @Nested
  class Managers extends MailboxManagerTest<StoreMailboxManager> {
    @Override
    protected StoreMailboxManager provideMailboxManager() {
      return mailboxes(preDeletionHooks()).mailboxManager();
    }

    @Override
    protected SubscriptionManager provideSubscriptionManager() {
      return mailboxes(preDeletionHooks()).subscriptionManager();
    }

    @Override
    protected EventBus retrieveEventBus(StoreMailboxManager manager) {
      return manager.getEventBus();
    }
  }

  @Nested
  class Stress implements MailboxManagerStressContract<StoreMailboxManager> {
    private final StoreMailboxManager manager = mailboxes(Set.of()).mailboxManager();

    @Override
    public StoreMailboxManager getManager() {
      return manager;
    }

    @Override
    public EventBus retrieveEventBus() {
      return manager.getEventBus();
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import com.google.common.collect.ImmutableList;
import io.isolde.mail.store.MailboxWrites;
import io.isolde.mail.store.NamedMailbox;
import io.isolde.mail.store.NoMailboxException;
import io.isolde.mail.store.StoredMessage;
import io.isolde.mail.store.Uids;
import io.isolde.mail.store.cql.Contents;
import io.isolde.mail.store.cql.MailboxReads;
import io.isolde.mail.store.cql.MailboxStore;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.james.core.Username;
import org.apache.james.mailbox.acl.ACLDiff;
import org.apache.james.mailbox.exception.MailboxException;
import org.apache.james.mailbox.exception.MailboxExistsException;
import org.apache.james.mailbox.exception.MailboxNotFoundException;
import org.apache.james.mailbox.model.Mailbox;
import org.apache.james.mailbox.model.MailboxACL;
import org.apache.james.mailbox.model.MailboxId;
import org.apache.james.mailbox.model.MailboxPath;
import org.apache.james.mailbox.model.UidValidity;
import org.apache.james.mailbox.model.search.MailboxQuery;
import org.apache.james.mailbox.store.mail.MailboxMapper;
import org.apache.james.mailbox.store.transaction.NonTransactionalMapper;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Mailboxes by name and by id. */
final class CqlMailboxMapper extends NonTransactionalMapper implements MailboxMapper {

  /** Of a change of rights that meets other ones. */
  private static final int MAX_ATTEMPTS = 20;

  private final MailboxReads reads;
  private final MailboxWrites writes;
  private final Contents contents;

  CqlMailboxMapper(MailboxStore store) {
    this.reads = store.reads();
    this.writes = store.writes();
    this.contents = store.contents();
  }

  @Override
  public Mono<Mailbox> create(MailboxPath path, UidValidity uidValidity) {
    return Calls.mono(
        () -> {
          NamedMailbox mailbox =
              new NamedMailbox(
                  JamesMailbox.name(path), UUID.randomUUID(), uidValidity.asLong(), Map.of());
          if (!writes.create(mailbox)) {
            throw new MailboxExistsException(path.getName());
          }
          return JamesMailbox.mailbox(mailbox);
        });
  }

  @Override
  public Mono<MailboxId> rename(Mailbox mailbox) {
    UUID id = UuidMailboxId.of(mailbox.getMailboxId());
    MailboxPath path = mailbox.generateAssociatedPath();
    return Calls.mono(
        () -> {
          NamedMailbox from = there(id);
          NamedMailbox to = from.called(JamesMailbox.name(path));
          if (from.name().equals(to.name()) || !writes.rename(from, to)) {
            throw reads.named(to.name()).isPresent()
                ? new MailboxExistsException(path.getName())
                : new MailboxNotFoundException(mailbox.getMailboxId());
          }
          return mailbox.getMailboxId();
        });
  }

  @Override
  public Mono<Void> delete(Mailbox mailbox) {
    UUID id = UuidMailboxId.of(mailbox.getMailboxId());
    return Calls.<Boolean>mono(
            () -> {
              // James has read as much to say what is deleted.
              List<StoredMessage> messages =
                  ImmutableList.copyOf(reads.messages(id, (Uids.Range) Uids.ALL));
              boolean isDeleted = reads.mailbox(id).map(writes::delete).orElse(false);
              if (isDeleted) {
                contents.removed(id, messages);
              }
              return isDeleted;
            })
        .then();
  }

  private NamedMailbox there(UUID id) {
    return reads.mailbox(id).orElseThrow(() -> new NoMailboxException(id));
  }

  @Override
  public Mono<Mailbox> findMailboxByPath(MailboxPath path) {
    return Calls.mono(
        () -> reads.named(JamesMailbox.name(path)).map(JamesMailbox::mailbox).orElse(null));
  }

  @Override
  public Mono<Mailbox> findMailboxById(MailboxId id) {
    return Calls.mono(() -> JamesMailbox.mailbox(there(UuidMailboxId.of(id))));
  }

  @Override
  public Flux<Mailbox> findMailboxWithPathLike(MailboxQuery.UserBound query) {
    return Calls.flux(
        () ->
            reads
                .ownedBy(query.getFixedUser().asString())
                .map(JamesMailbox::mailbox)
                .filter(query::matches)
                .toList());
  }

  @Override
  public Flux<Mailbox> findNonPersonalMailboxes(Username user, MailboxACL.Right right) {
    MailboxACL.EntryKey key = MailboxACL.EntryKey.createUserEntryKey(user);
    return Calls.flux(
        () ->
            reads.sharedWith(key.serialize()).stream()
                .map(JamesMailbox::mailbox)
                .filter(
                    mailbox ->
                        mailbox
                            .getACL()
                            .getEntries()
                            .getOrDefault(key, MailboxACL.NO_RIGHTS)
                            .contains(right))
                .toList());
  }

  @Override
  public Mono<Boolean> hasChildren(Mailbox mailbox, char delimiter) {
    String prefix = mailbox.getName() + delimiter;
    return Calls.mono(
        () ->
            reads
                .ownedBy(JamesMailbox.name(mailbox.generateAssociatedPath()).user())
                .map(NamedMailbox::name)
                .anyMatch(
                    name ->
                        name.namespace().equals(mailbox.getNamespace())
                            && name.name().startsWith(prefix)));
  }

  @Override
  public Mono<ACLDiff> updateACL(Mailbox mailbox, MailboxACL.ACLCommand command) {
    return Calls.mono(() -> changeRights(mailbox, acl -> acl.apply(command)));
  }

  @Override
  public Mono<ACLDiff> setACL(Mailbox mailbox, MailboxACL acl) {
    return Calls.mono(() -> changeRights(mailbox, before -> acl));
  }

  private interface RightsChange {
    MailboxACL apply(MailboxACL before) throws MailboxException;
  }

  private ACLDiff changeRights(Mailbox mailbox, RightsChange change) throws MailboxException {
    for (int attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      NamedMailbox from = there(UuidMailboxId.of(mailbox.getMailboxId()));
      MailboxACL before = JamesMailbox.acl(from.rights());
      MailboxACL after = change.apply(before);
      if (writes.changeRights(from, from.with(JamesMailbox.rights(after)))) {
        mailbox.setACL(after);
        return ACLDiff.computeDiff(before, after);
      }
    }
    throw new MailboxException("Too many others change the rights of this mailbox. Try again.");
  }

  @Override
  public Flux<Mailbox> list() {
    return Calls.flux(
        () -> {
          Iterator<Mailbox> all = reads.all().map(JamesMailbox::mailbox).iterator();
          return () -> all;
        });
  }
}

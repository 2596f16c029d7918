// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import io.isolde.mail.store.cql.MailboxStore;
import io.isolde.mail.store.cql.UserTables;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.BiPredicate;
import org.apache.james.mailbox.model.MailboxAnnotation;
import org.apache.james.mailbox.model.MailboxAnnotationKey;
import org.apache.james.mailbox.model.MailboxId;
import org.apache.james.mailbox.store.mail.AnnotationMapper;
import org.apache.james.mailbox.store.transaction.NonTransactionalMapper;

/** Annotations: a few small cells of a mailbox, all of which are read. James bounds them. */
final class CqlAnnotationMapper extends NonTransactionalMapper implements AnnotationMapper {
  private final UserTables users;

  CqlAnnotationMapper(MailboxStore store) {
    this.users = store.users();
  }

  @Override
  public List<MailboxAnnotation> getAllAnnotations(MailboxId id) {
    UUID mailbox = UuidMailboxId.of(id);
    return Calls.unchecked(
        () ->
            users.annotations(mailbox).entrySet().stream()
                .map(
                    entry ->
                        MailboxAnnotation.newInstance(
                            new MailboxAnnotationKey(entry.getKey()), entry.getValue()))
                .toList());
  }

  @Override
  public List<MailboxAnnotation> getAnnotationsByKeys(
      MailboxId id, Set<MailboxAnnotationKey> keys) {
    return which(id, keys, MailboxAnnotationKey::equals);
  }

  @Override
  public List<MailboxAnnotation> getAnnotationsByKeysWithOneDepth(
      MailboxId id, Set<MailboxAnnotationKey> keys) {
    return which(
        id,
        keys,
        (key, asked) ->
            isAtOrBelow(key, asked) && key.countComponents() <= asked.countComponents() + 1);
  }

  @Override
  public List<MailboxAnnotation> getAnnotationsByKeysWithAllDepth(
      MailboxId id, Set<MailboxAnnotationKey> keys) {
    return which(id, keys, CqlAnnotationMapper::isAtOrBelow);
  }

  private static boolean isAtOrBelow(MailboxAnnotationKey key, MailboxAnnotationKey asked) {
    return key.equals(asked) || key.asString().startsWith(asked.asString() + "/");
  }

  private List<MailboxAnnotation> which(
      MailboxId id,
      Set<MailboxAnnotationKey> keys,
      BiPredicate<MailboxAnnotationKey, MailboxAnnotationKey> matches) {
    return getAllAnnotations(id).stream()
        .filter(annotation -> keys.stream().anyMatch(key -> matches.test(annotation.getKey(), key)))
        .toList();
  }

  @Override
  public void insertAnnotation(MailboxId id, MailboxAnnotation annotation) {
    String value =
        annotation
            .getValue()
            .orElseThrow(() -> new IllegalArgumentException("An annotation needs a value."));
    Calls.unchecked(
        () -> {
          users.annotate(UuidMailboxId.of(id), annotation.getKey().asString(), value);
          return true;
        });
  }

  @Override
  public void deleteAnnotation(MailboxId id, MailboxAnnotationKey key) {
    Calls.unchecked(
        () -> {
          users.removeAnnotation(UuidMailboxId.of(id), key.asString());
          return true;
        });
  }

  @Override
  public boolean exist(MailboxId id, MailboxAnnotation annotation) {
    return !getAnnotationsByKeys(id, Set.of(annotation.getKey())).isEmpty();
  }

  @Override
  public int countAnnotations(MailboxId id) {
    return getAllAnnotations(id).size();
  }
}

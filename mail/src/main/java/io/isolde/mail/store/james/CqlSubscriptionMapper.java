// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import io.isolde.mail.store.cql.MailboxStore;
import io.isolde.mail.store.cql.UserTables;
import java.util.List;
import org.apache.james.core.Username;
import org.apache.james.mailbox.exception.MailboxException;
import org.apache.james.mailbox.exception.SubscriptionException;
import org.apache.james.mailbox.store.transaction.NonTransactionalMapper;
import org.apache.james.mailbox.store.user.SubscriptionMapper;
import org.apache.james.mailbox.store.user.model.Subscription;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Which mailboxes users want to see. */
final class CqlSubscriptionMapper extends NonTransactionalMapper implements SubscriptionMapper {
  private final UserTables users;

  CqlSubscriptionMapper(MailboxStore store) {
    this.users = store.users();
  }

  @Override
  public void save(Subscription subscription) throws SubscriptionException {
    call(
        () -> {
          users.subscribe(subscription.getUser().asString(), subscription.getMailbox());
          return true;
        });
  }

  @Override
  public void delete(Subscription subscription) throws SubscriptionException {
    call(
        () -> {
          users.unsubscribe(subscription.getUser().asString(), subscription.getMailbox());
          return true;
        });
  }

  @Override
  public List<Subscription> findSubscriptionsForUser(Username user) throws SubscriptionException {
    return call(
        () ->
            users.subscriptions(user.asString()).stream()
                .map(mailbox -> new Subscription(user, mailbox))
                .toList());
  }

  @Override
  public Mono<Void> saveReactive(Subscription subscription) {
    return Calls.mono(
            () -> {
              save(subscription);
              return true;
            })
        .then();
  }

  @Override
  public Mono<Void> deleteReactive(Subscription subscription) {
    return Calls.mono(
            () -> {
              delete(subscription);
              return true;
            })
        .then();
  }

  @Override
  public Flux<Subscription> findSubscriptionsForUserReactive(Username user) {
    return Calls.flux(() -> findSubscriptionsForUser(user));
  }

  private static <T> T call(Calls.Call<T> call) throws SubscriptionException {
    try {
      return Calls.call(call);
    } catch (MailboxException e) {
      throw new SubscriptionException(e);
    }
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import com.datastax.oss.driver.api.core.DriverException;
import io.isolde.client.IsoldeException;
import io.isolde.mail.store.NoMailboxException;
import io.isolde.mail.store.NoMessageException;
import io.isolde.mail.store.TooManyKeywordsException;
import org.apache.james.mailbox.exception.MailboxException;
import org.apache.james.mailbox.exception.MailboxNotFoundException;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** Calls to the store, with the errors that James knows. They block, so reactive ones move. */
final class Calls {
  private Calls() {}

  /** A call that may fail as James's interfaces may. */
  interface Call<T> {
    T get() throws MailboxException;
  }

  static <T> T call(Call<T> call) throws MailboxException {
    try {
      return call.get();
    } catch (NoMailboxException e) {
      throw new MailboxNotFoundException(new UuidMailboxId(e.mailbox()));
    } catch (NoMessageException | TooManyKeywordsException | DriverException | IsoldeException e) {
      throw new MailboxException(e.getMessage(), e);
    }
  }

  /** As {@link #call}, where James's interface knows no error. */
  static <T> T unchecked(Call<T> call) {
    try {
      return call(call);
    } catch (MailboxException e) {
      throw new IllegalStateException(e.getMessage(), e);
    }
  }

  /** Empty if the call returns null. */
  static <T> Mono<T> mono(Call<T> call) {
    return Mono.fromCallable(() -> call(call)).subscribeOn(Schedulers.boundedElastic());
  }

  static <T> Flux<T> flux(Call<? extends Iterable<T>> call) {
    return Flux.defer(
            () -> {
              try {
                return Flux.<T>fromIterable(call(call));
              } catch (MailboxException e) {
                return Flux.error(e);
              }
            })
        .subscribeOn(Schedulers.boundedElastic());
  }
}

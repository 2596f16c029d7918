// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store.james;

import com.datastax.oss.driver.api.core.DriverException;
import io.isolde.client.IsoldeException;
import io.isolde.mail.store.DeliveredBeforeException;
import io.isolde.mail.store.NoMailboxException;
import io.isolde.mail.store.NoMessageException;
import io.isolde.mail.store.NotChangedException;
import io.isolde.mail.store.TooManyKeywordsException;
import org.apache.james.mailbox.exception.MailboxException;
import org.apache.james.mailbox.exception.MailboxNotFoundException;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Calls to the store, with the errors that James knows. They wait on the thread that subscribes:
 * workers do, and they may wait. What comes after a call may wait for a client, too. It must not
 * happen on the few threads of Reactor that everything shares.
 */
final class Calls {
  private Calls() {}

  /** A call that may fail as James's interfaces may. */
  interface Call<T> {
    T get() throws MailboxException;
  }

  static <T> T call(Call<T> call) throws MailboxException {
    try {
      return call.get();
    } catch (RuntimeException e) {
      if (known(e) instanceof MailboxException known) {
        throw known;
      }
      throw e;
    }
  }

  /** An error of the store as James knows it, and any other one as it is. */
  private static Throwable known(Throwable error) {
    if (error instanceof NoMailboxException none) {
      return new MailboxNotFoundException(new UuidMailboxId(none.mailbox()));
    }
    if (error instanceof DeliveredBeforeException before) {
      return new AlreadyDeliveredException(before);
    }
    return error instanceof NoMessageException
            || error instanceof NotChangedException
            || error instanceof TooManyKeywordsException
            || error instanceof DriverException
            || error instanceof IsoldeException
        ? new MailboxException(error.getMessage(), error)
        : error;
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
    return Mono.fromCallable(() -> call(call));
  }

  /** What comes may be read page by page, so an error may come later than the first elements. */
  static <T> Flux<T> flux(Call<? extends Iterable<T>> call) {
    return Flux.defer(
            () -> {
              try {
                return Flux.<T>fromIterable(call(call));
              } catch (MailboxException e) {
                return Flux.error(e);
              }
            })
        .onErrorMap(Calls::known);
  }
}

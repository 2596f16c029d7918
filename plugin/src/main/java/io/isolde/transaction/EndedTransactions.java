// SPDX-License-Identifier: Apache-2.0
package io.isolde.transaction;

import io.isolde.error.ErrorCode;
import io.isolde.error.IsoldeException;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** Why the last transactions that this node ended by itself had to end. Bounded, thread-safe. */
final class EndedTransactions {
  private static final int REMEMBERED = 10_000;

  /**
   * Why a transaction can't go on. Nothing of it is committed.
   *
   * @param code what its client is told from then on
   * @param because the code of the error that it is due to, or null
   */
  record End(ErrorCode code, String sentence, String because) {
    IsoldeException toException(UUID id) {
      return IsoldeException.of(code, sentence, "transaction", id, "because", because);
    }
  }

  private record Ended(String user, End why) {}

  private final Map<UUID, Ended> last =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<UUID, Ended> eldest) {
          return size() > REMEMBERED;
        }
      };

  synchronized void add(UUID id, String user, End why) {
    last.putIfAbsent(id, new Ended(user, why));
  }

  /** Tells only the user whose transaction it was. */
  synchronized Optional<End> of(UUID id, String user) {
    return Optional.ofNullable(last.get(id))
        .filter(ended -> ended.user.equals(user))
        .map(Ended::why);
  }
}

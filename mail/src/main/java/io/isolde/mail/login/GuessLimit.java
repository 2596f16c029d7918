// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.login;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How often one may guess: after some wrong passwords in a row there is a pause, which doubles with
 * each further one. Pure: the caller brings the time, and one thread at a time.
 */
final class GuessLimit {

  static final long FIRST_PAUSE_MILLIS = 1_000;

  /** Long enough against guessing, and short for a user whom somebody else has locked out. */
  static final long MAX_PAUSE_MILLIS = 60_000;

  /** After so long a time without a failure, all is forgotten. */
  static final long MEMORY_MILLIS = 15 * 60_000;

  private record Failures(int count, long pauseEnds, long last) {}

  private final int maxNames;
  private final int maxFreeFailures;

  /** The one that failed longest ago is first, and is forgotten when there is no room. */
  private final Map<String, Failures> failures = new LinkedHashMap<>();

  /**
   * A limit.
   *
   * @param maxNames whose failures are remembered
   * @param maxFreeFailures before the first pause
   */
  GuessLimit(int maxNames, int maxFreeFailures) {
    this.maxNames = maxNames;
    this.maxFreeFailures = maxFreeFailures;
  }

  /** Whether a password of this name is to be looked at now. */
  boolean mayTry(String name, long nowMillis) {
    Failures known = failures.get(name);
    return known == null || nowMillis >= known.pauseEnds;
  }

  /** A password was wrong. */
  void failed(String name, long nowMillis) {
    Failures known = failures.remove(name);
    int count = known == null || nowMillis - known.last > MEMORY_MILLIS ? 1 : known.count + 1;
    failures.put(name, new Failures(count, nowMillis + pauseMillis(count), nowMillis));
    if (failures.size() > maxNames) {
      failures.remove(failures.keySet().iterator().next());
    }
  }

  /** A password was right. */
  void succeeded(String name) {
    failures.remove(name);
  }

  int names() {
    return failures.size();
  }

  private long pauseMillis(int count) {
    if (count <= maxFreeFailures) {
      return 0;
    }
    int doublings = Math.min(count - maxFreeFailures - 1, 30);
    return Math.min(FIRST_PAUSE_MILLIS << doublings, MAX_PAUSE_MILLIS);
  }
}

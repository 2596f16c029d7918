// SPDX-License-Identifier: Apache-2.0
package io.isolde.notification;

import java.util.Map;
import java.util.OptionalLong;

/** Mistakes that the simulation must find. */
enum Mistake {
  NONE,
  /** A client that comes to another node starts with what is new there. */
  RESUMES_FROM_NOW,
  /** A client lets two nodes say what "from now on" means. */
  TWO_BEGINNINGS,
  /** A node takes what it has not sent for sent. */
  SKIPS_ONE,
  /** A client does not look what it has heard from the node before. */
  HEARS_TWICE,
  /** Messages of one connection overtake each other. */
  REORDERS,
  /** Each node sends away all that it has too much, whatever the others do. */
  NOBODY_SHARES,
  /** Nodes take no difference for near enough, and old figures for true. */
  NEVER_CONTENT,
  /** Nodes do not care how many another one can log in. */
  FLOODS;

  ClientSession client(ClientSession.Output output) {
    return new ClientSession(output) {
      @Override
      OptionalLong resumeAfter(OptionalLong position) {
        return Mistake.this == RESUMES_FROM_NOW
            ? OptionalLong.empty()
            : super.resumeAfter(position);
      }

      @Override
      boolean isWaitingForPosition(OptionalLong position) {
        return Mistake.this != TWO_BEGINNINGS && super.isWaitingForPosition(position);
      }

      @Override
      boolean isNew(long commit, long position) {
        return Mistake.this == HEARS_TWICE || super.isNew(commit, position);
      }
    };
  }

  ServerSession server(ServerSession.Output output) {
    return new ServerSession(output) {
      @Override
      long positionAfter(long before, Answer answer) {
        return super.positionAfter(before, answer) + (Mistake.this == SKIPS_ONE ? 2 : 0);
      }
    };
  }

  Balance balance() {
    return new Balance() {
      @Override
      double share(double excess, double mean, Map<String, Integer> targets) {
        return Mistake.this == NOBODY_SHARES
            ? targets.size() + 1
            : super.share(excess, mean, targets);
      }

      @Override
      double threshold(double mean) {
        return Mistake.this == NEVER_CONTENT ? -mean : super.threshold(mean);
      }

      @Override
      int atOnce(int loginsPerSecond) {
        return Mistake.this == FLOODS ? MAX_MOVES : super.atOnce(loginsPerSecond);
      }

      @Override
      boolean isFresh(long heardMillis, long nowMillis) {
        return Mistake.this == NEVER_CONTENT || super.isFresh(heardMillis, nowMillis);
      }
    };
  }
}

// SPDX-License-Identifier: Apache-2.0
package io.isolde.history;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Whether a register could have done what clients saw: whether each operation could have happened
 * at one moment between being sent and being answered (Herlihy and Wing, 1990). The search is that
 * of Wing and Gong with Lowe's cache (<em>Testing for linearizability</em>, 2017). Each register is
 * searched by itself, since linearizability is local.
 */
public final class Linearizability {
  /** A call or a return, in the order of time, in a list from which both can be taken. */
  private static final class Event {
    private final int operation;
    private final boolean isCall;
    private final long nanos;
    private Event before;
    private Event after;
    private Event itsReturn;

    Event(int operation, boolean isCall, long nanos) {
      this.operation = operation;
      this.isCall = isCall;
      this.nanos = nanos;
    }

    private void unlink() {
      before.after = after;
      if (after != null) {
        after.before = before;
      }
    }

    private void link() {
      before.after = this;
      if (after != null) {
        after.before = this;
      }
    }
  }

  /** Which operations have happened, and what the register has then. */
  private record Seen(BitSet happened, Integer state) {}

  private record Step(Event call, Integer stateBefore) {}

  private final List<RegisterOperation> operations;
  private final Event head = new Event(-1, false, Long.MIN_VALUE);

  private Linearizability(List<RegisterOperation> operations) {
    this.operations = operations;
    List<Event> events = new ArrayList<>();
    for (int i = 0; i < operations.size(); i++) {
      Event call = new Event(i, true, operations.get(i).invokedNanos());
      call.itsReturn = new Event(i, false, operations.get(i).returnedNanos());
      events.add(call);
      events.add(call.itsReturn);
    }
    // A call and a return at the same moment may overlap: the call first.
    events.sort(
        Comparator.comparingLong((Event event) -> event.nanos).thenComparing(e -> !e.isCall));
    Event last = head;
    for (Event event : events) {
      last.after = event;
      event.before = last;
      last = event;
    }
  }

  /** Whether the operations on one register, which had nothing at the start, are linearizable. */
  public static boolean check(List<RegisterOperation> operations) {
    return new Linearizability(List.copyOf(operations)).search();
  }

  private boolean search() {
    Set<Seen> seen = new HashSet<>();
    Deque<Step> done = new ArrayDeque<>();
    BitSet happened = new BitSet();
    Integer state = null;
    Event event = head.after;
    while (head.after != null) {
      if (event.isCall) {
        RegisterOperation operation = operations.get(event.operation);
        if (operation.isPossible(state) && isNew(seen, happened, event, operation.after(state))) {
          done.push(new Step(event, state));
          state = operation.after(state);
          happened.set(event.operation);
          event.unlink();
          event.itsReturn.unlink();
          event = head.after;
        } else {
          event = event.after;
        }
      } else if (!operations.get(event.operation).isAnswered()) {
        return true; // Only what nobody knows of is left, and none of that need have happened.
      } else if (done.isEmpty()) {
        return false;
      } else {
        Step undone = done.pop();
        state = undone.stateBefore();
        happened.clear(undone.call().operation);
        undone.call().itsReturn.link();
        undone.call().link();
        event = undone.call().after;
      }
    }
    return true;
  }

  private static boolean isNew(Set<Seen> seen, BitSet happened, Event event, Integer state) {
    BitSet with = (BitSet) happened.clone();
    with.set(event.operation);
    return seen.add(new Seen(with, state));
  }
}

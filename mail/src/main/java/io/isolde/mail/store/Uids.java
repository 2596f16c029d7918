// SPDX-License-Identifier: Apache-2.0
package io.isolde.mail.store;

import java.util.List;

/** Which messages of a mailbox. */
public sealed interface Uids {

  /** So many messages are read and written in one change; more take several. */
  int MAX_OF_A_CHANGE = 500;

  /** No message: only the numbers of the mailbox. */
  Uids NONE = new Those(List.of());

  /** All messages. */
  Uids ALL = new Range(0, Long.MAX_VALUE);

  /** No message, but those entries of deliveries that are there. */
  record Entries(List<DeliveryId> ids) implements Uids {
    public Entries {
      ids = List.copyOf(ids);
    }
  }

  /** From one to another, both included. */
  record Range(long first, long last) implements Uids {}

  /** Exactly these. */
  record Those(List<Long> uids) implements Uids {
    public Those {
      uids = List.copyOf(uids);
    }
  }
}

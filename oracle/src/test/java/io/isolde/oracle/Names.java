// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;

/** Readable names for the ids of rows and transactions. */
final class Names {
  private final Map<String, Long> ids = new HashMap<>();
  private final Map<Long, String> names = new HashMap<>();

  long id(String name) {
    long id = ids.computeIfAbsent(name, unseen -> ids.size() + 1L);
    names.put(id, name);
    return id;
  }

  long[] ids(String... all) {
    return Arrays.stream(all).mapToLong(this::id).toArray();
  }

  UUID transaction(String name) {
    return new UUID(0, id(name));
  }

  String name(long id) {
    return names.get(id);
  }

  String name(UUID transactionId) {
    return names.get(transactionId.getLeastSignificantBits());
  }
}

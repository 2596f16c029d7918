// SPDX-License-Identifier: Apache-2.0
package io.isolde.torture;

import java.util.List;

/** Lists that single statements append to; fails as the driver does. */
interface SingleLists {
  void append(int key, int value);

  /** Appends unless the list is empty; says whether it did. */
  boolean appendIfThere(int key, int value);

  List<Integer> read(int key);
}

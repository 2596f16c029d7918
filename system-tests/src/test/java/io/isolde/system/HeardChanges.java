// SPDX-License-Identifier: Apache-2.0
package io.isolde.system;

import io.isolde.client.WatchListener;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** What a watch has reported. */
public class HeardChanges implements WatchListener {
  private final List<Long> commits = Collections.synchronizedList(new ArrayList<>());
  private final List<String> others = Collections.synchronizedList(new ArrayList<>());

  /** The timestamps of commits, as they came. */
  public final List<Long> commits() {
    return commits;
  }

  /** Losses and failures, each as a sentence. */
  public final List<String> others() {
    return others;
  }

  @Override
  public void changed(long commitTimestamp) {
    commits.add(commitTimestamp);
  }

  @Override
  public void lost(long position) {
    others.add("lost up to " + position);
  }

  @Override
  public void failed(Throwable failure) {
    others.add("failed: " + failure);
  }
}

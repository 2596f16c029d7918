// SPDX-License-Identifier: Apache-2.0
package io.isolde.oracle.group;

import java.nio.file.Path;

/**
 * Where a node keeps what it has of the oracle.
 *
 * @param log the directory of the log; must not be lost while the node is a member
 * @param record a small file somewhere else, on another disk if there is one, which says that there
 *     was a log
 */
public record OracleFiles(Path log, Path record) {
  /** Both beside each other. */
  public static OracleFiles at(Path log) {
    return new OracleFiles(log, log.resolveSibling(log.getFileName() + ".record"));
  }
}

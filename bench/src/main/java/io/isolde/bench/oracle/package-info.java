// SPDX-License-Identifier: Apache-2.0
/** What the status oracle can do, alone: in one thread, and as processes. */
package io.isolde.bench.oracle;

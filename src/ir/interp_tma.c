#include "interp_tma.h"
void cj_tma_land(struct cj_frame *f, struct cj_mbarrier *b) { (void)f; (void)b; }
void cj_proxy_fence(struct cj_frame *f) { (void)f; }

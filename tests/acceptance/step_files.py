# SPDX-License-Identifier: Apache-2.0
"""STEP files (ISO 10303-21) of single bodies, written down by hand."""

UNITS = {"mm": "(LENGTH_UNIT() NAMED_UNIT(*) SI_UNIT(.MILLI.,.METRE.))", "um": "(LENGTH_UNIT() NAMED_UNIT(*) SI_UNIT(.MICRO.,.METRE.))"}

FRAME = """ISO-10303-21;
HEADER;
FILE_DESCRIPTION(('a body'),'2;1');
FILE_NAME('body','2026-01-01T00:00:00',(''),(''),'','','');
FILE_SCHEMA(('AUTOMOTIVE_DESIGN { 1 0 10303 214 1 1 1 1 }'));
ENDSEC;
DATA;
#1=APPLICATION_CONTEXT('mechanical design');
#2=PRODUCT_CONTEXT('',#1,'mechanical');
#3=PRODUCT('body','body','',(#2));
#4=PRODUCT_DEFINITION_FORMATION('','',#3);
#5=PRODUCT_DEFINITION_CONTEXT('part definition',#1,'design');
#6=PRODUCT_DEFINITION('design','',#4,#5);
#7=PRODUCT_DEFINITION_SHAPE('','',#6);
#8=SHAPE_DEFINITION_REPRESENTATION(#7,#9);
#9=ADVANCED_BREP_SHAPE_REPRESENTATION('',(#14,#15),#10);
#10=(GEOMETRIC_REPRESENTATION_CONTEXT(3)GLOBAL_UNIT_ASSIGNED_CONTEXT((#11,#12,#13))REPRESENTATION_CONTEXT('',''));
#11=UNIT;
#12=(NAMED_UNIT(*)PLANE_ANGLE_UNIT()SI_UNIT($,.RADIAN.));
#13=(NAMED_UNIT(*)SI_UNIT($,.STERADIAN.)SOLID_ANGLE_UNIT());
#14=AXIS2_PLACEMENT_3D('',#16,#17,#18);
#15=MANIFOLD_SOLID_BREP('',#19);
#16=CARTESIAN_POINT('',(0.,0.,0.));
#17=DIRECTION('',(0.,0.,1.));
#18=DIRECTION('',(1.,0.,0.));
#19=CLOSED_SHELL('',(#20));
#20=ADVANCED_FACE('',(#21),#22,.T.);
#21=FACE_BOUND('',#23,.T.);
BODY
ENDSEC;
END-ISO-10303-21;
"""


def step(body, unit="um"):
    return FRAME.replace("UNIT;", UNITS.get(unit, unit) + ";", 1).replace("BODY\n", body)


def sphere(radius, unit="um"):
    """One face without an edge: its bound is a pole."""
    return step(f"""#22=SPHERICAL_SURFACE('',#14,{radius:#.17G});
#23=VERTEX_LOOP('',#24);
#24=VERTEX_POINT('',#25);
#25=CARTESIAN_POINT('',(0.,0.,{-radius:#.17G}));
""", unit)


def torus(ring, tube, unit="um"):
    """One face, whose bound runs along each of two circles there and back."""
    return step(f"""#22=TOROIDAL_SURFACE('',#14,{ring:#.17G},{tube:#.17G});
#23=EDGE_LOOP('',(#24,#25,#26,#27));
#24=ORIENTED_EDGE('',*,*,#28,.F.);
#25=ORIENTED_EDGE('',*,*,#29,.T.);
#26=ORIENTED_EDGE('',*,*,#28,.T.);
#27=ORIENTED_EDGE('',*,*,#29,.F.);
#28=EDGE_CURVE('',#30,#30,#32,.T.);
#29=EDGE_CURVE('',#30,#30,#33,.T.);
#30=VERTEX_POINT('',#31);
#31=CARTESIAN_POINT('',({ring + tube:#.17G},0.,0.));
#32=CIRCLE('',#14,{ring + tube:#.17G});
#33=CIRCLE('',#34,{tube:#.17G});
#34=AXIS2_PLACEMENT_3D('',#35,#36,#18);
#35=CARTESIAN_POINT('',({ring:#.17G},0.,0.));
#36=DIRECTION('',(0.,-1.,0.));
""", unit)
